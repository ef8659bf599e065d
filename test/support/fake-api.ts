import { tmpdir } from "node:os";
import { type ApiClient, openApi } from "../../src/api/index.js";
import type { Deps, Fetch } from "../../src/deps.js";
import type { JsonObject } from "../../src/resources/types.js";
import { type Behaviour, documented } from "./fake/behaviour.js";
import { datings, mixed } from "./fake/dates.js";
import { clicksOf } from "./fake/figures.js";
import { type Asked, type FakeRecord, inOrder, readRecord, select, textOf } from "./fake/lists.js";
import { allScopes, broken, cut, isAllowed, keyStatus, refused, scopeOf, success } from "./fake/protocol.js";
import { campaignOf, mistaken, resultsOf, some, type WrongAnswer, wrongPageOf } from "./fake/wrong.js";
import { testDeps } from "./program.js";

const lists = [
  "orders",
  "content",
  "roster",
  "recommendations",
  "opportunities",
  "hosts",
  "gifts",
  "codes",
  "surveys",
] as const;

/** What the API holds now; a list's order is the order in which its records came. Change it at any time. */
export type FakeRecords = Record<(typeof lists)[number], FakeRecord[]> & {
  /** `hosts` are the rows of /analytics/hosts; `results`, by survey, the text of /surveys/{id}/results. */
  results: Record<string, string>;
};

export interface FakeRequest {
  path: string;
  query: Asked;
  /** 1 for the first. */
  number: number;
}

export type FakeFault = { status: number; retryAfter?: string } | WrongAnswer | "reset" | "cut" | "html";

export interface FakeApi {
  records: FakeRecords;
  behaviour: Behaviour;
  /** The exact text of `data` of a path, past everything else; of a list, those of its items, in pages. */
  answers: Record<string, string | readonly string[]>;
  scopes: readonly string[];
  asked: FakeRequest[];
  /** Called before each answer, which is of the instant after it; what it returns is answered instead. */
  before: ((request: FakeRequest) => FakeFault | undefined) | undefined;
  baseUrl: string;
  key: string;
  fetch: Fetch;
}

/** The documented API in memory, without sockets: `fakeApi({ orders: [...] }, { shows: "seconds" })`. */
export function fakeApi(
  records: Partial<FakeRecords> = {},
  behaviour: Partial<Behaviour> = {},
  now: () => number = Date.now,
): FakeApi {
  const none = Object.fromEntries(lists.map((name) => [name, []])) as unknown as FakeRecords;
  const api: FakeApi = {
    records: { ...none, results: {}, ...records },
    behaviour: { ...documented, ...behaviour },
    answers: {},
    scopes: allScopes,
    asked: [],
    before: undefined,
    baseUrl: "https://brand.test/api/brand/v1",
    key: "fake-key",
    async fetch(input, init = {}) {
      const url = new URL(input);
      const path = url.pathname.replace("/api/brand/v1", "");
      const request = { path, query: Object.fromEntries(url.searchParams), number: api.asked.length + 1 };
      api.asked.push(request);
      const fault = api.before?.(request);
      init.signal?.throwIfAborted();
      const isRefused = typeof fault === "object" && "status" in fault;
      const wrong = typeof fault === "object" && "wrong" in fault ? fault : undefined;
      const answer = isRefused
        ? refused(fault.status, fault.retryAfter)
        : answered(url, request, init, wrong);
      if (api.behaviour.lags !== "nothing") before = copyOf(api.records);
      const turns = api.behaviour.delivery === "late" ? mixed(path, request.number) % 4 : 0;
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      init.signal?.throwIfAborted();
      if (fault === "reset") throw broken("fetch failed", "ECONNRESET");
      if (fault === "html") return new Response("<html>Please log in</html>");
      return fault === "cut" ? cut(await answer.text()) : answer;
    },
  };
  /** The records as they were when the request before was answered. */
  let before = copyOf(api.records);

  function answered(url: URL, asked: FakeRequest, init: RequestInit, wrong?: WrongAnswer): Response {
    const { records, query } = mistaken(api.records, asked.query, wrong);
    const request = { ...asked, query };
    const { path } = request;
    const { behaviour, scopes } = api;
    const status = keyStatus(new Headers(init.headers), api.key);
    if (status !== 200) return refused(status);
    const scope = scopeOf(path);
    if (scope && !scopes.includes(scope)) return refused(403);
    if (path === "/analytics/clicks" && behaviour.figures === "absent") return refused(402);
    const fixed = api.answers[path];
    if (Array.isArray(fixed)) return paged((from, to) => fixed.slice(from, to), fixed.length, request, wrong);
    if (!isAllowed(path, url.searchParams, behaviour.unshown === "paged")) return refused(400);
    if (path === "/me") return success(`"data":${JSON.stringify(identity(scopes))}`);
    const data = typeof fixed === "string" ? fixed : dataOf(request, records, wrong);
    return data === null ? listed(request, records, wrong) : success(`"data":${data}`);
  }

  /** The text of what is not a list; null for what is. */
  function dataOf(
    { path, query, number }: FakeRequest,
    records: FakeRecords,
    wrong: WrongAnswer | undefined,
  ): string | null {
    const { behaviour } = api;
    const [, list, id, rest] = path.split("/");
    if (path === "/analytics/clicks") {
      const { orders } = behaviour.lags === "figures" || behaviour.lags === "both" ? before : records;
      const entries = inOrder(orders, datings.orders ?? null, behaviour, number);
      const counted = wrong?.wrong === "short" ? some(entries, number) : entries;
      return JSON.stringify(clicksOf(counted, query, behaviour, now()));
    }
    if (list === "surveys" && rest === "results")
      return resultsOf(records.results[decodeURIComponent(id ?? "")], number, wrong);
    if (list !== "opportunities" || id === undefined || rest !== undefined) return null;
    const isAsked = (one: FakeRecord) => readRecord(one).id === decodeURIComponent(id);
    const found = campaignOf(records.opportunities, isAsked, wrong);
    return found === undefined || typeof found === "string" ? (found ?? null) : JSON.stringify(found);
  }

  function listed(request: FakeRequest, records: FakeRecords, wrong: WrongAnswer | undefined): Response {
    const { path, query, number } = request;
    const { behaviour } = api;
    const name = path === "/analytics/hosts" ? "hosts" : lists.find((one) => path === `/${one}`);
    if (!name || path === "/hosts") return refused(404);
    const found = select(name, records[name], query, behaviour, number);
    const isLagging = behaviour.lags === "totals" || behaviour.lags === "both";
    const total = isLagging ? select(name, before[name], query, behaviour, number).length : found.length;
    const texts = (from: number, to: number) =>
      found.slice(from, to).map((entry) => textOf(name, entry, behaviour.shows));
    const isWhole = behaviour.unshown === "whole" && ["gifts", "codes", "surveys"].includes(name);
    const whole = texts(0, found.length);
    if (isWhole)
      return success(`"data":[${(wrong?.wrong === "short" ? some(whole, number) : whole).join(",")}]`);
    return paged(texts, total, request, wrong);
  }

  function paged(
    texts: (from: number, to: number) => string[],
    total: number,
    request: FakeRequest,
    wrong: WrongAnswer | undefined,
  ): Response {
    const page = wrongPageOf(texts, total, request, api.behaviour, wrong);
    return page === null ? refused(400) : success(page);
  }
  return api;
}

/** The program's own client on this API: no rate limit, and whatever else a test passes in. */
export function clientOf(api: FakeApi, deps: Partial<Deps> = {}): ApiClient {
  const { baseUrl, key, fetch } = api;
  const settings = { baseUrl, key, rateLimit: null, maxWaitMs: 20_000, userAgent: "brandapi/test" };
  return openApi({ ...settings, statePath: tmpdir() }, { ...testDeps({ home: tmpdir() }), fetch, ...deps });
}

/** Lists and records of their own: what happens to the API's does not happen to these. */
function copyOf(records: FakeRecords): FakeRecords {
  const copies = lists.map((name) => [
    name,
    records[name].map((one) => (typeof one === "string" ? one : { ...one })),
  ]);
  return { ...(Object.fromEntries(copies) as FakeRecords), results: records.results };
}

function identity(scopes: readonly string[]): JsonObject {
  return {
    brand: { id: "b-1", name: "Brand" },
    key: { id: "k-1", scopes: [...scopes], expires_at: "2036-01-01T00:00:00Z" },
  };
}
