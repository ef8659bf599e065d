import { expect, test } from "vitest";
import { atOnce } from "../../src/lib/in-parts.js";
import type { Mirror } from "../../src/mirror/mirror.js";
import { openRecords } from "../../src/records/index.js";
import { content } from "../../src/resources/content.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import type { ApiRecord, Json, Resource } from "../../src/resources/types.js";
import { gifts } from "../../src/resources/unshown.js";
import { mirrorForTest, order, rows, write } from "./mirror.js";

const readAt = "2026-11-02T00:00:00.000Z";

function storeOf(mirror: Mirror, resource: Resource = orders) {
  const store = openRecords(mirror, resource, { runId: 2, coverage: [], complain: () => {} });
  return {
    ...store,
    /** Records as an answer brings them: recognised, or parsed. */
    answer: (...values: Json[]): ApiRecord[] =>
      values.map((value) => {
        const json = JSON.stringify(value);
        const held = store.recognise?.(json);
        return held ? { json, held, value: "nobody parses this" } : { json, value };
      }),
    write: (records: ApiRecord[]) => mirror.db.transaction(() => atOnce(store.write(records, { readAt })))(),
    remove: (ids: number[]) => atOnce(store.remove(ids, readAt)),
  };
}

test("a record that the mirror holds to the letter is recognised, with its date, in any order", async () => {
  const mirror = await mirrorForTest();
  const all = ["o1", "o2", "o3", "o4"].map((id) => order(id));
  write(mirror, orders, all);
  const store = storeOf(mirror);

  const [first, second, third, fourth] = all as [Json, Json, Json, Json];
  const answer = store.answer(third, fourth, first, order("new"), second);

  expect(answer.map(({ held }) => held)).toEqual([
    { id: 3, dated: Date.parse("2026-10-01T10:00:00Z") },
    { id: 4, dated: Date.parse("2026-10-01T10:00:00Z") },
    { id: 1, dated: Date.parse("2026-10-01T10:00:00Z") },
    undefined,
    { id: 2, dated: Date.parse("2026-10-01T10:00:00Z") },
  ]);
  expect(store.write(answer)).toEqual({ ids: [3, 4, 1, 5, 2], added: 1, changed: 0 });
});

test("a text that differs in one digit, or is another resource's, is not recognised", async () => {
  const mirror = await mirrorForTest();
  write(mirror, orders, [order("o1", { total_amount: 10.5 })]);
  write(mirror, gifts, [order("o2")]);

  const [other, same, next] = storeOf(mirror).answer(
    order("o1", { total_amount: 10.4 }),
    order("o1", { total_amount: 10.5 }),
    order("o2"),
  );

  expect(other?.held).toBeUndefined();
  expect(same?.held).toMatchObject({ id: 1 });
  expect(next?.held).toBeUndefined();
});

test("a record that was removed is not recognised: it has returned", async () => {
  const mirror = await mirrorForTest();
  write(mirror, orders, [order("o1")]);
  storeOf(mirror).remove([1]);
  const store = storeOf(mirror);

  expect(store.write(store.answer(order("o1")))).toMatchObject({ changed: 1 });
  expect(rows(mirror, "SELECT removed_at FROM orders")).toEqual([{ removed_at: null }]);
});

test("a record that changes after it was recognised is written as it was sent last", async () => {
  const mirror = await mirrorForTest();
  write(mirror, orders, [order("o1")]);
  const store = storeOf(mirror);
  const json = JSON.stringify(order("o1"));
  const held = store.recognise?.(json);
  if (!held) throw new Error("not recognised");

  store.write(store.answer(order("o1", { refund_amount: 5 })));
  store.write([{ json, held, value: order("o1") }]);
  expect(rows(mirror, "SELECT refund_amount FROM orders")).toEqual([{ refund_amount: null }]);

  store.remove([1]);
  store.write([{ json, held, value: order("o1") }]);
  expect(rows(mirror, "SELECT removed_at FROM orders")).toEqual([{ removed_at: null }]);
});

test("a record that came in another order of its members has not changed, and stays recognised", async () => {
  const mirror = await mirrorForTest();
  write(mirror, orders, [order("o1")]);
  const store = storeOf(mirror);
  const [held] = store.answer(order("o1")) as [ApiRecord];
  const reordered = Object.fromEntries(Object.entries(order("o1") as object).reverse());

  const written = store.write([{ json: JSON.stringify(reordered), value: reordered }, held]);
  expect(written).toEqual({ ids: [1, 1], added: 0, changed: 0 });
});

test("hundreds of new records before them keep none from being recognised for long", async () => {
  const mirror = await mirrorForTest();
  const old = Array.from({ length: 300 }, (_, index) => order(`o${index}`));
  write(mirror, orders, old);
  const fresh = Array.from({ length: 1_000 }, (_, index) => order(`n${index}`));

  const answer = storeOf(mirror).answer(...fresh, ...old);

  expect(answer.slice(0, 1_000).some(({ held }) => held)).toBe(false);
  expect(answer.slice(-200).every(({ held }) => held)).toBe(true);
});

test("a host is recognised by its relationship's id", async () => {
  const mirror = await mirrorForTest();
  write(mirror, roster, [{ relationship_id: "r1" }, { relationship_id: "r2" }]);

  expect(storeOf(mirror, roster).answer({ relationship_id: "r2" })).toMatchObject([
    { held: { id: 2, dated: null } },
  ]);
});

test("lists whose records have details, several keys or none are always parsed", async () => {
  const mirror = await mirrorForTest();
  for (const resource of [opportunities, content, gifts])
    expect(storeOf(mirror, resource).recognise).toBeUndefined();
});
