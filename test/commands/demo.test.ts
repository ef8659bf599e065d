import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

test("a quiet demo prints nothing but warnings, and leaves everything behind", async () => {
  const home = makeHome();
  const { code, out, err } = await spawnBrandapi(["demo", "--quiet", "--orders", "200"], { home }).ended;
  expect({ code, out }, err).toEqual({ code: 0, out: "" });
  expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
  for (const file of ["orders.csv", "report.html"])
    expect(existsSync(join(home, "brandapi-demo", file)), file).toBe(true);
});

test("a demo takes the place of an earlier one, and of nothing that it did not write or that was edited", async () => {
  const home = makeHome();
  const file = (name: string) => join(home, "brandapi-demo", name);
  const demo = () => brandapi("demo --quiet --orders 50", { home });
  mkdirSync(join(home, "brandapi-demo"));
  for (const name of ["orders.csv", "demo.sqlite"]) {
    writeFileSync(file(name), "mine");
    const refused = await demo();
    expect(refused.err).toBe(
      `brandapi: The demo would overwrite what it did not write, or what was edited since: brandapi-demo/${name}.\n` +
        "  hint: take another folder: `brandapi demo --out brandapi-demo/brandapi-demo-2`\n",
    );
    expect(refused.code).toBe(2);
    expect(readFileSync(file(name), "utf8")).toBe("mine");
    rmSync(file(name));
  }
  writeFileSync(file("notes.txt"), "mine");
  for (const _ of ["first", "again"]) expect((await demo()).code).toBe(0);
  expect(readFileSync(file("notes.txt"), "utf8")).toBe("mine");
  appendFileSync(file("orders.csv"), "my own line\n");
  const refused = await demo();
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("brandapi-demo/orders.csv.");
  expect(readFileSync(file("orders.csv"), "utf8")).toMatch(/my own line\n$/);
  expect(existsSync(file("demo.sqlite"))).toBe(true);
});

test("the same seed gives the same orders, dates too, after a restart on the same day, and shows no odd numbers", async () => {
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
