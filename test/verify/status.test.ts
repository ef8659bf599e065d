import { expect, test } from "vitest";
import { brandForTest, orderAged } from "../scenarios/brand.js";

test.each(["orders", "roster"])(
  "`status` says what `verify %s` found, until it is mended",
  async (resource) => {
    const brand = await brandForTest();
    expect((await brand.run(`sync ${resource}`)).code).toBe(0);
    if (resource === "orders") brand.sandbox.events.cancel(orderAged(brand.sandbox, 200).id);
    else brand.sandbox.events.joinRoster();
    expect((await brand.run(`verify ${resource}`)).code).toBe(8);
    const told = (await brand.run("status")).out;
    expect(told).toContain(`! ${resource}: the last \`verify\`: ${resource} differs from the API (`);
    expect(told).toContain(`run \`brandapi verify ${resource} --repair\``);

    expect((await brand.run(`verify ${resource} --repair`)).code).toBe(0);
    expect((await brand.run("status")).out).not.toContain("!");
  },
);

test("a `verify` that finds nothing wrong does not hide how the last sync ended", async () => {
  const brand = await brandForTest();
  expect((await brand.run("sync orders")).code).toBe(0);
  brand.sandbox.intercept = ({ path }) => (path === "/orders" ? { kind: "status", status: 404 } : undefined);
  const failed = await brand.run("sync orders");
  expect(failed.code).not.toBe(0);
  brand.sandbox.intercept = undefined;
  const last_error = (await ordersHealth())?.last_error;
  expect(last_error).toEqual(expect.any(String));

  expect((await brand.run("verify orders")).code).toBe(0);
  expect(await ordersHealth()).toMatchObject({ last_error });

  async function ordersHealth() {
    const { out } = await brand.run("status --json");
    return (JSON.parse(out) as { resources: { last_error: string | null }[] }).resources[0];
  }
});

test("a `verify` that could not look to the end is recorded as such", async () => {
  const brand = await brandForTest();
  expect((await brand.run("sync orders")).code).toBe(0);
  brand.sandbox.intercept = ({ path }) => (path === "/orders" ? { kind: "status", status: 404 } : undefined);
  expect((await brand.run("verify orders")).code).not.toBe(0);
  expect(brand.lastRun("orders")).toMatchObject({ outcome: "failed", verified: 0, requests: 2 });
  expect((await brand.run("status")).out).toContain("! orders: the last run failed: ");
});
