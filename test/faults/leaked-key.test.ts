import { existsSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { expectSeen, runAt, sharedSandbox } from "./matrix.js";

/** The key as JSON can write it. */
const writings: [name: string, write: (key: string) => string][] = [
  ["as it is", (key) => key],
  [
    "by the numbers of its letters",
    (key) => [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16).padStart(2, "0")}`).join(""),
  ],
  ["with one letter by its number", (key) => `\\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}`],
];

const places: [name: string, command: string, path: string, change: (body: string, key: string) => string][] =
  [
    ["a record", "sync orders", "/orders", (body, key) => body.replace('"order_number":"', `$&${key}`)],
    [
      "a new member's name",
      "sync roster",
      "/roster",
      (body, key) => body.replace('"status":', `"${key}":1,$&`),
    ],
    [
      "a record without documented fields",
      "sync gifts",
      "/gifts",
      (body, key) => body.replace('"id":"', `$&${key}`),
    ],
    [
      "what stands beside the data",
      "sync codes",
      "/codes",
      (body, key) => body.replace("{", `{"debug":"${key}",`),
    ],
    [
      "the figures by day",
      "sync orders",
      "/analytics/clicks",
      (body, key) => body.replace("{", `{"x":"${key}",`),
    ],
    ["the brand's name", "sync orders", "/me", (body, key) => body.replace('"name":"', `$&${key}`)],
    ["the brand's name, for `whoami`", "whoami", "/me", (body, key) => body.replace('"name":"', `$&${key}`)],
  ];

test.each(places.flatMap((place) => writings.map((writing) => [...place, ...writing] as const)))(
  "an answer that holds the key in %s is refused, and nothing of it is kept: `%s`",
  async (_name, command, path, change, _writing, write) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    const fetch = async (url: string | URL, init?: RequestInit) => {
      const answer = await globalThis.fetch(url, init);
      if (!new URL(url).pathname.endsWith(path)) return answer;
      const changed = change(await answer.text(), write(sandbox.key));
      return new Response(changed, { status: answer.status });
    };
    const result = await runAt(sandbox, home, `${command} --verbose`, { fetch });
    expectSeen(
      { ...result, err: withoutStack(result.err) },
      { code: 7, says: /holds the key itself: it is refused[\s\S]*hint: .*create a new key/ },
      [sandbox.key, write(sandbox.key)],
    );
    const mirror = join(home, "mirror.sqlite");
    if (!existsSync(mirror)) return;
    const db = new Sqlite(mirror, { readonly: true });
    expect(db.prepare("SELECT count(*) FROM records").pluck().get()).toBe(0);
    db.close();
  },
);

/** `--verbose` shows where it happened. */
function withoutStack(err: string): string {
  return err.replace(/^\s+at .*\n/gm, "");
}
