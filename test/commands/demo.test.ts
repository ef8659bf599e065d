import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";

test("a quiet demo prints nothing but warnings, and leaves everything behind", async () => {
  const home = makeHome();
  const { code, out, err } = await spawnBrandapi(["demo", "--quiet", "--orders", "200"], { home }).ended;
  expect({ code, out }, err).toEqual({ code: 0, out: "" });
  expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
  expect(existsSync(join(home, "brandapi-demo", "orders.csv"))).toBe(true);
});
