import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { nights } from "../support/nights.js";

function members(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({ relationship_id: `r${n}`, host: { id: `h${n}` } }));
}

test("records that changed places between two pages are no difference: the list is read again", async () => {
  const brand = await nights({ roster: members(130) });
  expect((await brand.sync("roster")).failure).toBeNull();
  const before = brand.api.asked.length;
  brand.api.before = ({ number }) => {
    const all = members(130);
    brand.api.records.roster = number === before + 2 ? [...all.slice(30), ...all.slice(0, 30)] : all;
    return undefined;
  };
  const verdict = await brand.verify("roster");
  expect(verdict.months[0]?.why).toBe("130 records read, all the same");
  expect(verdict).toMatchObject({ state: "proven", requests: 4 });
});

test("a list that never agrees with its count proves nothing, and is not called different", async () => {
  const brand = await nights({ roster: members(130) });
  await brand.sync("roster");
  brand.api.before = ({ query }) => {
    const all = members(130);
    brand.api.records.roster = query.page === "2" ? [...all.slice(30), ...all.slice(0, 30)] : all;
    return undefined;
  };
  const verdict = await brand.verify("roster");
  expect(verdict).toMatchObject({ state: "unproven", unsettled: true });
  expect(verdict.months[0]?.why).toContain("never settled");
});

test("what is new, changed and gone is counted, and nothing is written", async () => {
  const brand = await nights({ roster: members(30) });
  await brand.sync("roster");
  brand.api.records.roster = [...members(30).slice(1), { relationship_id: "new", host: { id: "n" } }].map(
    (one) => (one.relationship_id === "r5" ? { ...one, commission_rate: 9 } : one),
  );
  const verdict = await brand.verify("roster");
  expect(verdict.months[0]?.why).toBe("1 not in the mirror, 1 different, 1 no longer in the API");
  expect(verdict.state).toBe("different");
  expect(brand.mirrored("roster")).toContain("r0");
  expect(await brand.verify("roster", true)).toMatchObject({ state: "repaired" });
  expect(brand.mirrored("roster")).not.toContain("r0");
});
