import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

test("demo --quiet prints only warnings, and writes all of its files", async () => {
  const home = makeHome();
  const { code, out, err } = await spawnBrandapi(["demo", "--quiet", "--orders", "200"], { home }).ended;
  expect({ code, out }, err).toEqual({ code: 0, out: "" });
  expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
  for (const file of ["orders.csv", "report.html"])
    expect(existsSync(join(home, "brandapi-demo", file)), file).toBe(true);
  // The mirror can be copied as a single file.
  expect(existsSync(join(home, "brandapi-demo", "demo.sqlite-wal"))).toBe(false);
});

test("demo explains its purpose before the first command, and prints consistent numbers", async () => {
  const { code, out, err } = await brandapi("demo --orders 100", { home: makeHome() });
  expect(code, err).toBe(0);
  const [introduction = "", ...commands] = out.split("\n$ ");
  expect(introduction).toMatch(/^brandapi copies .+You get:\n- tables to query/s);
  expect(commands[0]).toMatch(/^brandapi sync\n/);
  expect(err).toMatch(/^surveys: 9 surveys and 9 results read/m);
  expect(out).toMatch(/^surveys +9 /m);
});

test("demo replaces an earlier demo, and rejects a folder with other files", async () => {
  const home = makeHome();
  const file = (name: string) => join(home, "brandapi-demo", name);
  const demo = () => brandapi("demo --quiet --orders 50", { home });
  mkdirSync(join(home, "brandapi-demo"));
  writeFileSync(file("orders.csv"), "mine");
  const { code, err } = await demo();
  expect({ code, err }).toEqual({
    code: 2,
    err:
      "brandapi: This folder contains files that the demo did not create: brandapi-demo.\n" +
      "  hint: choose a different folder with `--out`\n",
  });
  expect(readFileSync(file("orders.csv"), "utf8")).toBe("mine");
  rmSync(file("orders.csv"));
  expect((await demo()).code).toBe(0);
  writeFileSync(file("notes.txt"), "mine");
  expect((await demo()).code).toBe(0);
  expect(readFileSync(file("notes.txt"), "utf8")).toBe("mine");
});

test("sandbox returns the same orders for the same seed after a restart on the same day", async () => {
  const home = makeHome();
  const orders = async (hour: string) => {
    const clock = { now: () => Date.parse(`2026-11-21T${hour}:17:05Z`) };
    const demo = await brandapi("demo --orders 300", { home, clock });
    expect(demo.code, demo.err).toBe(0);
    expect(demo.out).not.toMatch(/^'\d/m);
    return readFileSync(join(home, "brandapi-demo", "orders.ndjson"), "utf8");
  };
  const morning = await orders("06");
  expect(morning.split("\n").length).toBeGreaterThan(300);
  expect(await orders("21")).toBe(morning);
});
