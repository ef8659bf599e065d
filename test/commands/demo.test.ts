import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

test("demo --quiet prints only warnings, writes all of its files, and replaces an earlier demo", async () => {
  const home = makeHome();
  const file = (name: string) => join(home, "brandapi-demo", name);
  const runDemo = async () => {
    const { code, out, err } = await spawnBrandapi(["demo", "--quiet", "--orders", "50"], { home }).ended;
    expect({ code, out }, err).toEqual({ code: 0, out: "" });
    expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
  };
  await runDemo();
  for (const name of ["orders.csv", "report.html"]) expect(existsSync(file(name)), name).toBe(true);
  expect(existsSync(file("demo.sqlite-wal"))).toBe(false);

  writeFileSync(file("notes.txt"), "mine");
  await runDemo();
  expect(readFileSync(file("notes.txt"), "utf8")).toBe("mine");
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

test("demo prints an introduction before its first command, and sync and status report the same number of surveys", async () => {
  const { code, out, err } = await brandapi("demo --orders 100", { home: makeHome() });
  expect(code, err).toBe(0);
  const [introduction = "", ...commands] = out.split("\n$ ");
  expect(introduction).toMatch(/^brandapi copies .+You get:\n- tables to query/s);
  expect(commands[0]).toMatch(/^brandapi sync\n/);
  expect(out).not.toMatch(/^'\d/m);
  expect(err).toMatch(/^surveys: 9 surveys and 9 results read/m);
  expect(out).toMatch(/^surveys +9 /m);
});
