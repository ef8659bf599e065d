import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, hour } from "../support/records.js";

test.each([
  ["prints a warning", "14 days", 14 * day + hour, "(14 days left)"],
  ["prints no warning", "15 days", 15 * day + hour, ""],
])("whoami %s if the key expires in %s", async (_, _age, ms, expected) => {
  const brand = makeBrand();
  brand.setKey({ expiresAt: brand.now() + ms });
  const { code, err } = await brand.run("whoami");
  expect([code, err]).toEqual([0, expected === "" ? "" : expect.stringContaining(expected)]);
});
