import { onTestFinished } from "vitest";
import type { Clock } from "../../src/deps.js";
import { systemClock } from "../../src/deps.js";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/index.js";

/** A fixed "now", so that every run of these tests sees the same data. */
export const noon = Date.UTC(2026, 10, 21, 12);
export const day = 86_400_000;

/** A sandbox without limits at a fixed time, closed after the test. */
export async function sandboxOf(options: SandboxOptions = {}, clock: Clock = systemClock): Promise<Sandbox> {
  const sandbox = await startSandbox({ rateLimit: null, now: noon, orders: 400, ...options }, { clock });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A clock that stands still until told otherwise. */
export function handClock(start = noon): Clock & { move(ms: number): void } {
  let elapsed = 0;
  return {
    now: () => start + elapsed,
    monotonic: () => 5_000 + elapsed,
    sleep: async () => {},
    move(ms) {
      elapsed += ms;
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the server sent.
  json: any;
}

export interface AskOptions {
  /** A key's secret; null: none. */
  key?: string | null;
  method?: string;
  headers?: Record<string, string>;
}

/** Asks for a path below the base URL, with the key of all scopes unless told otherwise. */
export async function ask(sandbox: Sandbox, path: string, options: AskOptions = {}): Promise<Answer> {
  const { key = sandbox.key, method = "GET", headers = {} } = options;
  const response = await fetch(sandbox.baseUrl + path, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    redirect: "manual",
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** Every record of a paginated endpoint. */
export async function askAll(sandbox: Sandbox, path: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (let page = 1; page <= 10_000; page++) {
    const { json } = await ask(sandbox, `${path}${path.includes("?") ? "&" : "?"}per_page=100&page=${page}`);
    records.push(...json.data);
    if (!json.pagination.has_next) return records;
  }
  throw new Error("The list never ended.");
}

/** The document's table of endpoints, with a path that answers 200. */
export async function endpointsOf(sandbox: Sandbox) {
  const [opportunity] = (await ask(sandbox, "/opportunities")).json.data;
  const [file] = (await ask(sandbox, "/content")).json.data;
  const [survey] = (await ask(sandbox, "/surveys")).json.data;
  return [
    { path: "/me", scope: "", plan: false, paginated: false },
    { path: "/analytics/clicks", scope: "analytics", plan: true, paginated: false },
    { path: "/analytics/hosts", scope: "analytics", plan: true, paginated: true },
    { path: "/orders", scope: "analytics", plan: true, paginated: true },
    { path: "/opportunities", scope: "opportunities", plan: false, paginated: true },
    { path: `/opportunities/${opportunity.id}`, scope: "opportunities", plan: false, paginated: false },
    { path: "/content", scope: "content", plan: false, paginated: true },
    { path: `/content/${file.source}/${file.id}/download`, scope: "content", plan: false, paginated: false },
    { path: "/roster", scope: "roster", plan: false, paginated: true },
    { path: "/recommendations", scope: "recommendations", plan: false, paginated: true },
    { path: "/gifts", scope: "gifts", plan: false, paginated: true },
    { path: "/codes", scope: "codes", plan: false, paginated: true },
    { path: "/surveys", scope: "surveys", plan: false, paginated: true },
    { path: `/surveys/${survey.id}/results`, scope: "surveys", plan: false, paginated: false },
  ];
}
