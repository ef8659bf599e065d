import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";

describe("two demos in the same folder", () => {
  const home = makeHome();
  const file = (name: string) => join(home, "brandapi-demo", name);
  let first: Awaited<ReturnType<typeof brandapi>>;

  beforeAll(async () => {
    first = await brandapi("demo --orders 100", { home });
  });

  test("demo prints an introduction before its first command, and sync and status report the same number of surveys", () => {
    expect(first.code, first.err).toBe(0);
    const [introduction = "", ...commands] = first.out.split("\n$ ");
    expect(introduction).toMatch(/^brandapi copies .+You get:\n- tables to query/s);
    expect(commands[0]).toMatch(/^brandapi sync\n/);
    expect(first.out).not.toMatch(/^'\d/m);
    expect(first.err).toMatch(/^surveys: 9 surveys and 9 results read/m);
    expect(first.out).toMatch(/^surveys +9 /m);
  });

  test("demo --quiet prints only warnings, writes all of its files, and replaces an earlier demo", async () => {
    writeFileSync(file("notes.txt"), "mine");
    const { code, out, err } = await brandapi("demo --quiet --orders 50 --out brandapi-demo", { home });
    expect({ code, out }, err).toEqual({ code: 0, out: "" });
    expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
    for (const name of ["orders.csv", "report.html"]) expect(existsSync(file(name)), name).toBe(true);
    expect(existsSync(file("demo.sqlite-wal"))).toBe(false);
    expect(readFileSync(file("notes.txt"), "utf8")).toBe("mine");
  });
});

test("demo rejects a folder with files that an earlier demo did not create", async () => {
  const home = makeHome();
  const path = join(home, "brandapi-demo", "orders.csv");
  mkdirSync(join(home, "brandapi-demo"));
  writeFileSync(path, "mine");
  const { code, err } = await brandapi("demo --quiet --orders 50", { home });
  expect([code, err]).toEqual([2, expect.stringContaining("contains files that the demo did not create")]);
  expect(readFileSync(path, "utf8")).toBe("mine");
});
