import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { expectSeen, meetFault, runAt, sharedSandbox } from "./matrix.js";

/** Text as hosts could write it to hurt whoever reads it. */
const texts: [name: string, text: string][] = [
  ["a formula", '=HYPERLINK("http://evil.example","click")'],
  ["a formula behind a space", " =1+1"],
  ["a formula behind a tab", "\t@SUM(A1)"],
  ["a sequence that clears the screen", "\u001b[2J\u001b[H"],
  ["a sequence that sets the window's title", "\u001b]0;owned\u0007"],
  ["a sequence that makes a link", "\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\"],
  ["an eight-bit control sequence", "\u009b31mred"],
  ["a carriage return that hides what came before", "honest\rbrandapi: all is well"],
  ["a line that looks like the program's own", "x\nbrandapi: Done.\n  hint: send the key to evil.example"],
  ["bidirectional overrides", "invoice\u202efdp.exe\u202c"],
  ["a NUL", "a\u0000b"],
  ["a lone high surrogate", "a\ud800b"],
  ["a lone low surrogate", "a\udc00b"],
  ["a byte order mark inside", "a\ufeffb"],
  ["quotes, commas and line breaks", 'a"b,c\r\nd\ne'],
  ["SQL", "'); DROP TABLE records; --"],
  ["a path that leads out", "../../../../etc/passwd"],
  ["a very long word", "a".repeat(5_000)],
  ["a thousand combining marks", `e${"\u0301".repeat(1_000)}`],
  ["line separators of JavaScript", "a\u2028b\u2029c"],
];

test.each(texts)(
  "%s in a host's name: mirrored exactly, exported exactly, and no formula for a spreadsheet",
  async (_, text) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    sandbox.intercept = ({ path }) =>
      path === "/orders"
        ? {
            kind: "envelope",
            change: (envelope) => ({
              ...envelope,
              data: (envelope.data as Record<string, unknown>[]).map((order) => ({
                ...order,
                order_number: text,
                host: { id: "h", username: text, first_name: text, last_name: text, profile_photo: text },
              })),
            }),
          }
        : undefined;
    expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
    const db = new Sqlite(join(home, "mirror.sqlite"), { readonly: true });
    const [json] = db.prepare("SELECT json FROM records WHERE resource = 'orders'").pluck().all() as string[];
    db.close();
    expect((JSON.parse(json ?? "{}") as { host: { username: string } }).host.username).toBe(text);

    const ndjson = await runAt(sandbox, home, "export orders --ndjson --limit 1");
    expect(ndjson.code).toBe(0);
    expect((JSON.parse(ndjson.out) as { order_number: string }).order_number).toBe(text);

    const excel = await runAt(
      sandbox,
      home,
      "export orders --csv --excel --limit 1 --columns order_number -o out.csv",
    );
    expect(excel.code, excel.err).toBe(0);
    const cell = readFileSync(join(home, "out.csv"), "utf8")
      .replace(/^\ufeff?order_number\r\n/, "")
      .replace(/^"/, "");
    expect(cell).not.toMatch(/^[\s\0]*[=+@]|^\s*-[^\d]/);
  },
);

const attributes = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "\u001b[2J",
  'a"; DROP TABLE orders; --',
  "",
  "removed_at",
  "record_id",
  "a.b",
];

test.each(attributes)("an attribute called `%j` is kept, and hurts nothing", async (name) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const extra = `{${JSON.stringify(name)}:"x",`;
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const answer = await globalThis.fetch(url, init);
    const text = await answer.text();
    const changed = /\/(orders|gifts)\?|\/gifts$/.test(String(url))
      ? text.replaceAll('{"id":"', `${extra}"id":"`)
      : text;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    return new Response(changed, { status: answer.status, headers });
  };
  const result = await runAt(sandbox, home, "sync orders gifts", { fetch });
  expectSeen(result, { code: 0 }, [sandbox.key]);
  const exported = await runAt(sandbox, home, "export gifts --ndjson --limit 1");
  expect(exported.code, exported.err).toBe(0);
  expect(Object.getOwnPropertyNames(JSON.parse(exported.out))).toContain(name);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test.each([
  ["../me", 7],
  ["..%2f..%2fme", 7],
  ["x?admin=1", 7],
  ["x#y", 7],
  ["//evil.example/x", 7],
  ["https://evil.example/x", 7],
  ["\\\\evil.example\\x", 7],
])("a campaign whose id is `%s` sends the key nowhere else", async (id) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  sandbox.intercept = ({ path }) =>
    path === "/opportunities"
      ? {
          kind: "envelope",
          change: (envelope) => ({
            ...envelope,
            data: (envelope.data as object[]).map((one, n) => (n === 0 ? { ...one, id } : one)),
          }),
        }
      : undefined;
  const asked: string[] = [];
  const fetch = (url: string | URL, init?: RequestInit) => {
    asked.push(String(url));
    return globalThis.fetch(url, init);
  };
  const result = await runAt(sandbox, home, "sync opportunities --max-wait 0s", { fetch });
  expect([0, 7, 8], result.err).toContain(result.code);
  expect(asked.every((url) => url.startsWith(`${sandbox.baseUrl}/`))).toBe(true);
  expect(asked.filter((url) => url.includes("admin=1") && url.includes("?admin"))).toEqual([]);
  expect(result.out + result.err).not.toContain(sandbox.key);
});

test.each([
  "http://169.254.169.254/latest",
  "ftp://127.0.0.1/x",
  "file:///etc/passwd",
  "https://evil.example/",
  "//evil.example/",
])("a redirect to %s is not followed", async (location) => {
  const asked: string[] = [];
  const fetch = (url: string | URL, init?: RequestInit) => {
    asked.push(new URL(url).host);
    return globalThis.fetch(url, init);
  };
  const sandbox = await sharedSandbox();
  await meetFault(
    (count) => (count === 1 ? { kind: "status", status: 302, headers: { location } } : undefined),
    { code: 7, says: /redirect/ },
    { fetch },
  );
  expect(new Set(asked)).toEqual(new Set([new URL(sandbox.baseUrl).host]));
});

test("a brand's name that clears the screen is shown escaped by `whoami`", async () => {
  const sandbox = await sharedSandbox();
  sandbox.intercept = ({ path }) =>
    path === "/me"
      ? {
          kind: "envelope",
          change: (envelope) => {
            const { brand, key } = envelope.data as { brand: object; key: object };
            return { ...envelope, data: { brand: { ...brand, name: "\u001b[2J\u202eevil" }, key } };
          },
        }
      : undefined;
  const home = makeHome();
  for (const tty of [false, true]) {
    const { code, out, err } = await runAt(sandbox, home, "whoami", { tty });
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(out.replaceAll(/\u001b\[\d*m/g, "") + err).not.toMatch(/[\u001b\u202e]/);
  }
});

test("numbers that a double cannot hold keep every digit", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const answer = await globalThis.fetch(url, init);
    const text = (await answer.text()).replaceAll(
      /"total_amount":[^,]+/g,
      '"total_amount":12345678901234567890.123456789',
    );
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    return new Response(text, { status: answer.status, headers });
  };
  expectSeen(await runAt(sandbox, home, "sync orders", { fetch }), { code: 0 }, [sandbox.key]);
  const { out } = await runAt(sandbox, home, "export orders --ndjson --limit 1");
  expect(out).toContain('"total_amount":12345678901234567890.123456789');
});

test.each([
  ["true", true],
  ["a text", "12.50"],
  ["an object", { amount: 1 }],
  ["a list", [1]],
])("an amount that is %s: kept in exports, null in its column, warned about once", async (_, value) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  sandbox.intercept = ({ path }) =>
    path === "/orders"
      ? {
          kind: "envelope",
          change: (e) => ({ ...e, data: (e.data as object[]).map((o) => ({ ...o, total_amount: value })) }),
        }
      : undefined;
  const result = await runAt(sandbox, home, "sync orders");
  expectSeen(result, { code: 0, says: /total_amount/ }, [sandbox.key]);
  expect(result.err.match(/total_amount/g)).toHaveLength(1);
  const { out } = await runAt(sandbox, home, "export orders --ndjson --limit 1");
  expect((JSON.parse(out) as { total_amount: unknown }).total_amount).toEqual(value);
  expect(readdirSync(home)).not.toContain("evil");
});
