import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

const hostile = "\u001b]0;owned\u0007\u009b2J\u007f\u202efdp.exe\r\u001b[8m, Zoë 北京\tx\ny";
// Control characters that must not reach a terminal: all except line breaks and tabs.
const controlCharacter = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;

// Runs a process that treats its stdout as a terminal.
const onTerminal = [process.execPath, "--import", "data:text/javascript,process.stdout.isTTY=true"] as const;

/** Creates a mirror whose output is large enough to be written in several chunks. Returns its path. */
async function createHostileMirror(): Promise<string> {
  const mirror = await makeMirror();
  const order = (n: number, text: string) => anOrder(n, { order_number: text, external_order_id: text });
  const numbers = Array.from({ length: 1_500 }, (_, n) => n);
  const first = numbers.map((n) => order(n, "before"));
  writeRead(mirror, "orders", first);
  const second = numbers.map((n) => order(n, hostile));
  writeRead(mirror, "orders", second, { at: "2026-11-02T00:00:00.000Z" });
  mirror.db.close();
  return mirror.path;
}

let path: string;

beforeAll(async () => {
  path = await createHostileMirror();
});

const commands = [
  ["export", "orders", "--csv"],
  ["export", "orders", "--csv", "--excel"],
  ["export", "orders", "--json"],
  ["export", "orders", "--ndjson"],
  ["query", "SELECT order_number FROM orders", "--csv"],
  ["query", "SELECT order_number FROM orders", "--json"],
  ["changes", "orders", "--since", "2026-01-01", "--csv"],
  ["changes", "orders", "--since", "2026-01-01", "--json"],
].map((argv) => [argv.join(" "), argv] as const);

test.each(commands)(
  "`%s` escapes control characters on a terminal and writes them unchanged to a pipe",
  async (_, argv) => {
    const command = [...argv, "--db", path];
    const piped = await brandapi(command);
    const shown = await brandapi(command, { tty: true });
    expect([piped.code, shown.code]).toEqual([0, 0]);
    expect(piped.out).toContain("\u009b2J\u007f\u202efdp.exe");
    expect(shown.out.replaceAll("\r\n", "\n")).not.toMatch(controlCharacter);
    expect(shown.out).toContain("\\u009b2J\\u007f\\u202efdp.exe");
    expect(shown.out).toContain("Zoë 北京");
    expect(shown.out).not.toContain("\ufffd");
    expect(shown.out.split("\n").length).toBe(piped.out.split("\n").length);
    if (argv.includes("--json")) expect(JSON.parse(shown.out)).toEqual(JSON.parse(piped.out));
  },
);

test("the program escapes control characters if its stdout is a terminal", async () => {
  const { code, out } = await spawnBrandapi(["export", "orders", "--csv", "--db", path], { node: onTerminal })
    .ended;
  expect(code).toBe(0);
  expect(out.replaceAll("\r\n", "\n")).not.toMatch(controlCharacter);
  expect(out).toContain("\\u009b2J\\u007f\\u202efdp.exe");
});

test("export writes control characters to a file unchanged even if stdout is a terminal", async () => {
  const home = makeHome();
  const command = ["export", "orders", "--csv", "--db", path];
  const piped = await brandapi(command);
  const { code, out } = await brandapi([...command, "-o", "out.csv"], { home, tty: true });
  expect({ code, out }).toEqual({ code: 0, out: "" });
  expect(readFileSync(join(home, "out.csv"), "utf8")).toBe(piped.out);
});

test("--json escapes control characters on a terminal without changing the values", async () => {
  const brand = makeBrand();
  brand.data.name = hostile;
  const piped = await brand.run("whoami --json");
  const shown = await brand.run("whoami --json", { tty: true });
  expect(piped.out).toContain("\u009b2J");
  expect(shown.out).not.toMatch(controlCharacter);
  expect(JSON.parse(shown.out)).toEqual(JSON.parse(piped.out));
});
