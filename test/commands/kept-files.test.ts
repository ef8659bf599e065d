import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

/** A home whose folder `out` holds a mirror, a key and a statement, each by the name of a file to write. */
async function homeWithFiles(): Promise<{ home: string; at: (name: string) => string }> {
  const home = makeHome();
  const at = (name: string) => join(home, name);
  mkdirSync(at("out"));
  writeFileSync(at("out/orders.csv"), readFileSync(await mirrorOfOrders(makeHome(), 3)));
  mkdirSync(at(".config/brandapi"), { recursive: true, mode: 0o700 });
  writeFileSync(at(".config/brandapi/config.json"), '{"profiles":{}}', { mode: 0o600 });
  writeFileSync(at("key.csv"), "sk_live_0123456789abcdef0123456789abcdef", { mode: 0o600 });
  writeFileSync(at("ask.csv"), "SELECT 1");
  symlinkSync(at("out"), at("link"));
  return { home, at };
}

test.each([
  ["export order-line-items orders --csv -o out/", "the mirror itself: out/orders.csv", "-o"],
  ["export orders --csv -o out/orders.csv-wal", "the mirror itself: out/orders.csv-wal", "-o"],
  ["export orders --csv -o link/orders.csv-shm", "the mirror itself: link/orders.csv-shm", "-o"],
  ["export orders --singer --state out/orders.csv", "the mirror itself: out/orders.csv", "--state"],
  ["export orders --singer -o state.json --state state.json", "the one of `--state`: state.json", "-o"],
  [
    "export orders -o .config/brandapi/config.json",
    "the one with the settings: .config/brandapi/config.json",
    "-o",
  ],
  ["export orders -o key.csv --key-file key.csv", "the one of `--key-file`: key.csv", "-o"],
  ["query -f ask.csv -o ask.csv", "the one of `-f`: ask.csv", "-o"],
  ["query SELECT_1 -o .config/brandapi/config.json", "the one with the settings", "-o"],
])("`%s` is refused before anything is written, and the file is named", async (line, what, flag) => {
  const { home, at } = await homeWithFiles();
  const names = ["out/orders.csv", ".config/brandapi/config.json", "key.csv", "ask.csv"];
  const read = () => names.map((name) => readFileSync(at(name), "latin1"));
  const before = read();
  const words = line.split(" ").map((word) => word.replace("SELECT_1", "SELECT 1"));
  const run = await brandapi([...words, "--db", "out/orders.csv"], { home });
  expect(run).toMatchObject({ code: 2, out: "" });
  expect(run.err).toContain(`brandapi: The file to write is ${what}`);
  expect(run.err).toContain(`hint: name another file with \`${flag}\``);
  expect(read()).toEqual(before);
  expect(["out/order_line_items.csv", "state.json"].map((name) => existsSync(at(name)))).toEqual([
    false,
    false,
  ]);
});

test("a table that is named twice, and a state beside the output, are refused nothing", async () => {
  const { home } = await homeWithFiles();
  const db = ["--db", "out/orders.csv"];
  const twice = await brandapi(["export", "orders", "orders", "--csv", "-o", "other/", ...db], { home });
  expect(twice.code).toBe(0);
  const args = ["export", "orders", "--singer", "-o", "lines.json", "--state", "state.json", ...db];
  for (const run of [await brandapi(args, { home }), await brandapi(args, { home })])
    expect(run.code, run.err).toBe(0);
});
