import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes, Stopped } from "../../src/errors.js";
import { commands, programTree } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

const values = [
  "",
  " ",
  "-",
  "--",
  "-1",
  "0",
  "1e999",
  "NaN",
  "99999999999999999999",
  "1".repeat(400),
  "x".repeat(5_000),
  "é".repeat(130),
  ".",
  "..",
  "../..",
  "~",
  "~/x",
  "~nobody/x",
  "/",
  "//",
  "/dev/null/x",
  "loop",
  "loop/x",
  "folder",
  "a\u0000b",
  "a\nb",
  "\ud800",
  "\u202e",
  "🎉",
  "%",
  "%s%n",
  "'",
  '"',
  "`",
  "(",
  "*",
  "?",
  "=",
  ",",
  ",,",
  ":",
  "http://",
  "https://[",
  "https://x:99999/api/brand/v1",
  "__proto__",
  "constructor",
  "toString",
  "orders",
  "SELECT",
  "2026-02-30",
  "0000-00-00",
  "999999999w",
  "9999-12",
];

/** A folder to run in, with a mirror, a link that leads to itself, and a folder. */
async function place(): Promise<string> {
  const home = makeHome();
  const mirror = await makeMirror(home);
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  symlinkSync("loop", join(home, "loop"));
  mkdirSync(join(home, "folder"));
  return home;
}

/** What a command needs before the flag that is tried. */
const first: Readonly<Record<string, readonly string[]>> = {
  export: ["orders", "--csv"],
  query: ["SELECT 1"],
  download: ["content"],
  demo: ["--orders", "5"],
  sandbox: ["--orders", "5"],
};
/** They would serve, or work, until somebody stops them. */
const endless = ["demo", "sandbox"];

test.each(commands.map((one) => [one.name(), one] as const))(
  "no value of an argument or of a flag makes a defect of %s",
  async (name, command) => {
    const home = await place();
    const options = {
      home,
      env: {
        BRANDAPI_DB: join(home, "mirror.sqlite"),
        BRANDAPI_BASE_URL: "http://127.0.0.1:1/api/brand/v1",
        BRANDAPI_KEY: "fake-key",
        BRANDAPI_RATE_LIMIT: "none",
      },
      fetch: async () => Response.json({}, { status: 401 }),
    };
    const signalOf = () =>
      endless.includes(name) ? AbortSignal.abort(new Stopped("SIGTERM")) : new AbortController().signal;
    const takers = [...command.options, ...programTree().options].flatMap(({ long, required }) =>
      required && long ? [[...(first[name] ?? []), long]] : [],
    );
    if (command.registeredArguments.length > 0) takers.push([], ["--"]);
    const defects: string[] = [];
    for (const value of values)
      for (const taker of takers) {
        const line = [name, ...taker, value];
        const { code, err } = await brandapi(line, { ...options, signal: signalOf() });
        if (code === exitCodes.defect || err.includes("defect"))
          defects.push(`${JSON.stringify(line).slice(0, 100)}: ${err.slice(0, 300)}`);
      }
    expect(defects).toEqual([]);
  },
);
