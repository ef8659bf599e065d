import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, hour, memberOf, noon, ordersBefore } from "../support/records.js";

test("sync prints one hint per kind of refusal if a scope and the plan were lost", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 5, hour), roster: [memberOf("r1")] });
  expect((await brand.run("sync orders roster content")).code).toBe(0);
  brand.setKey({ hasAnalyticsPlan: false, scopes: ["orders:read", "analytics:read", "content:read"] });
  brand.pass(day);
  const { code, err } = await brand.run("sync");
  expect(code).toBe(8);
  const status = await brand.run("status --max-age 26h");
  expect(status.code).toBe(10);
  for (const text of [err, status.err]) {
    const hint = /hint: (.*)/.exec(text)?.[1];
    expect(hint).toContain("check the brand's plan");
    expect(hint).toContain("create a key with that scope");
  }
});
