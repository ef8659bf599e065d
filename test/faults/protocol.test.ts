import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import type { Fault } from "../support/old-sandbox/index.js";
import { expectEqual, expectSeen, meetFault, orderCount, pageSize, runAt, sharedSandbox } from "./matrix.js";

type Envelope = Record<string, unknown>;

const change = (edit: (envelope: Envelope) => unknown): Fault => ({ kind: "envelope", change: edit });
const data = (value: unknown) => change((envelope) => ({ ...envelope, data: value }));
const paging = (edit: Record<string, unknown>) =>
  change((envelope) => ({
    ...envelope,
    pagination: { ...(envelope.pagination as Record<string, unknown>), ...edit },
  }));
const records = (edit: (list: Record<string, unknown>[]) => unknown) =>
  change((envelope) => ({ ...envelope, data: edit(envelope.data as Record<string, unknown>[]) }));
const raw = (body: string | Buffer): Fault => ({ kind: "raw", body });

/** Answers that are not the documented shape: exit 7, and nothing of them is believed. */
const refused: [name: string, fault: Fault, says: RegExp][] = [
  ["`success` is false in a 200", change((e) => ({ ...e, success: false })), /`success`/],
  ["`success` is missing", change(({ success: _, ...e }) => e), /no `success`/],
  ["`success` is the text true", change((e) => ({ ...e, success: "true" })), /text as `success`/],
  ["`data` is null", data(null), /null as `data`/],
  ["`data` is missing", change(({ data: _, ...e }) => e), /no `data`/],
  ["`data` is text", data("[]"), /text as `data`/],
  ["`data` is a number", data(3), /3 as `data`/],
  ["`data` is an object where a list was asked for", data({ orders: [] }), /not a list/],
  ["`pagination` is missing", change(({ pagination: _, ...e }) => e), /no `pagination`/],
  ["`pagination` is null", change((e) => ({ ...e, pagination: null })), /no `pagination`/],
  ["`pagination` is a list", change((e) => ({ ...e, pagination: [] })), /`pagination`/],
  ["`total_items` is text", paging({ total_items: "350" }), /text as `total_items`/],
  ["`total_items` is null", paging({ total_items: null }), /null as `total_items`/],
  ["`total_items` is negative", paging({ total_items: -1 }), /-1 as `total_items`/],
  ["`total_items` is a fraction", paging({ total_items: 350.5 }), /`total_items`/],
  ["`total_items` is absurd", paging({ total_items: 1e15, total_pages: 1e13 }), /absurd `total_items`/],
  ["`total_pages` is a billion", paging({ total_pages: 1e9 }), /absurd `total_pages`/],
  ["`total_pages` contradicts `total_items`", paging({ total_pages: 40 }), /contradicts itself/],
  ["`page` is text", paging({ page: "1" }), /text as `page`/],
  ["`page` is another page than was asked for", paging({ page: 9 }), /page 9/],
  ["`per_page` is 0", paging({ per_page: 0 }), /0 as `per_page`/],
  ["`has_next` is text", paging({ has_next: "false" }), /`has_next`/],
  ["`has_next` is missing", paging({ has_next: undefined }), /no `has_next`/],
  ["a record is null", records((list) => [null, ...list.slice(1)]), /has no `id`/],
  ["a record is a number", records((list) => [7, ...list.slice(1)]), /has no `id`/],
  ["a record is a list", records((list) => [[], ...list.slice(1)]), /has no `id`/],
  [
    "a record has no id",
    records(([first, ...rest]) => [{ ...first, id: undefined }, ...rest]),
    /has no `id`/,
  ],
  ["a record's id is null", records(([first, ...rest]) => [{ ...first, id: null }, ...rest]), /has no `id`/],
  [
    "a record's id is an object",
    records(([first, ...rest]) => [{ ...first, id: {} }, ...rest]),
    /has no `id`/,
  ],
  ["the body is empty", raw(""), /body is empty/],
  ["the body is `null`", raw("null"), /not an object/],
  ["the body is a bare list", raw("[]"), /not an object/],
  ["the body is a number", raw("42"), /not an object|not JSON/],
  ["the body is text", raw("maintenance"), /not JSON/],
  ["the body is JSON with something behind it", raw('{"success":true,"data":[]}{}'), /cut short or damaged/],
  ["the body is not UTF-8", raw(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])), /not UTF-8/],
  ["the body is UTF-16", raw(Buffer.from('{"success":true}', "utf16le")), /UTF-8|not JSON|damaged/],
  ["the body is a thousand levels deep", { kind: "deep", depth: 1_000 }, /levels deep/],
  ["the body is a million levels deep", { kind: "deep", depth: 1_000_000 }, /levels deep/],
  ["the body is huge", { kind: "huge", bytes: 40 * 2 ** 20 }, /larger than 32 MiB/],
  ["the body is endless", { kind: "huge", bytes: Number.POSITIVE_INFINITY }, /larger than 32 MiB/],
  ["the body is a compressed bomb", { kind: "gzip-bomb", bytes: 2 ** 31 }, /larger than 32 MiB/],
  [
    "the body says that it is compressed, and is not",
    { kind: "raw", body: '{"success":true}', headers: { "content-encoding": "gzip" } },
    /compressed body is damaged|cannot be read|broke off/,
  ],
  [
    "a redirect to another path",
    { kind: "status", status: 301, headers: { location: "/api/brand/v1/me" } },
    /redirect/,
  ],
  [
    "a redirect to another host",
    { kind: "status", status: 302, headers: { location: "http://127.0.0.1:1/x" } },
    /redirect/,
  ],
  ["a redirect without an address", { kind: "status", status: 307 }, /redirect/],
  ["204 without a body", { kind: "status", status: 204 }, /204/],
  ["206, part of a body", { kind: "status", status: 206, body: '{"success":true,"data":[]}' }, /206/],
  ["400: the parameters are refused", { kind: "status", status: 400 }, /refused the parameters[\s\S]*hint/],
  [
    "404 on a list: the base URL looks wrong",
    { kind: "status", status: 404 },
    /base URL looks wrong[\s\S]*--base-url/,
  ],
  ["405: the method is refused", { kind: "status", status: 405 }, /405/],
  ["410: the endpoint is retired", { kind: "status", status: 410 }, /retired[\s\S]*newer version/],
  ["418, which nobody documents", { kind: "status", status: 418 }, /undocumented status: 418/],
  ["451, which nobody documents", { kind: "status", status: 451 }, /451/],
];

test.each(refused)("%s, on the first answer: exit 7, in words, nothing written", async (_, fault, says) => {
  await meetFault((count) => (count === 1 ? fault : undefined), { code: 7, says });
});

test.each(refused.filter(([name]) => !/absurd|billion|contradicts/.test(name)))(
  "%s, on the third answer: exit 7, and those before are kept",
  async (_, fault, says) => {
    await meetFault((count) => (count >= 3 ? fault : undefined), { code: 7, says });
  },
);

test("a record in the middle of the third answer has no id: that answer is left out as a whole", async () => {
  const spoiled = records((list) => list.map((one, place) => (place === 50 ? { ...one, id: null } : one)));
  await meetFault((count) => (count === 3 ? spoiled : undefined), { code: 7, says: /has no `id`/ });
});

/** What looks odd and is no error. */
const accepted: [name: string, fault: Fault][] = [
  ["members that nobody documented", change((e) => ({ ...e, meta: { a: [1, { b: 2 }] }, warnings: [] }))],
  ["no `_timing`", change(({ _timing: _, ...e }) => e)],
  ["a right answer that comes late", { kind: "delay", ms: 120 }],
];

test.each(accepted)("%s: no error", async (_, fault) => {
  await meetFault((count) => (count === 2 ? fault : undefined), { code: 0 });
});

test("a byte order mark before the JSON: no error", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const answer = await globalThis.fetch(url, init);
    return new Response(`\ufeff${await answer.text()}`, answer);
  };
  expectSeen(await runAt(sandbox, home, "sync orders", { fetch }), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("the list says for ever that there is a next page: exit 7, not for ever", async () => {
  await meetFault(() => paging({ has_next: true }), { code: 7, says: /has a next one/ });
});

test("every answer is the first one again: exit 7, and nothing is claimed", async () => {
  let first: unknown;
  const fault = change((envelope) => {
    first ??= envelope.data;
    return { ...envelope, data: first };
  });
  await meetFault(() => fault, { code: 7, says: /repeats page/ });
});

test("the list grows by a page with each answer, and its pages are empty: exit 7, after a few requests", async () => {
  let asked = 0;
  const result = await meetFault(
    () => {
      asked += 1;
      return change((envelope) => {
        const total_items = orderCount + pageSize * asked;
        const total_pages = Math.ceil(total_items / pageSize);
        const pagination = { ...(envelope.pagination as Envelope), total_items, total_pages, has_next: true };
        return { ...envelope, pagination };
      });
    },
    { code: 7, says: /has nothing on page/ },
  );
  expect(result.code).toBe(7);
  expect(asked).toBeLessThan(30);
});

test.each([
  ["no brand", { key: { scopes: [] } }, /names no `brand.id`/],
  ["a brand without an id", { brand: { name: "x" }, key: { scopes: [] } }, /names no `brand.id`/],
  ["no key", { brand: { id: "b", name: "x" } }, /`key.scopes` is not a list/],
  [
    "scopes that are text",
    { brand: { id: "b", name: "x" }, key: { scopes: "all" } },
    /`key.scopes` is not a list/,
  ],
] as const)("/me names %s: exit 7 before anything is written", async (_, me, says) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  sandbox.intercept = () => data(me);
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 7, says }, [sandbox.key]);
});
