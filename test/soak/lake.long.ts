import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { soakLake } from "./lake.js";

const bin = fileURLToPath(new URL("../../bin/brandapi.js", import.meta.url));

test("a multi-brand Delta table matches the brands' mirrors even if exports are killed every day", async () => {
  const size = { brands: 4, orders: 200, days: 15 };
  expect(await soakLake({ ...size, seed: 20261124, bin, say: () => {} })).toEqual([]);
}, 600_000);
