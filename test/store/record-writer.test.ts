import { expect, test } from "vitest";
import { analyticsClicks } from "../../src/resources/analytics-clicks.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { gifts } from "../../src/resources/undocumented.js";
import { RecordWriter, type WriteOptions, type WrittenRecords } from "../../src/store/record-writer.js";
import { insertRun, loadRun } from "../../src/store/runs.js";
import type { Json } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";
import { makeMirror } from "../support/mirror.js";
import { order } from "./record-mirror.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const requestedAt = (day: number) => Date.parse(at(day));

/** Opens a new mirror, and returns functions that write records to it as part of the same run. */
async function writing(resource: Resource) {
  const mirror = await makeMirror();
  const runId = insertRun(mirror, resource.name, at(1));
  const writer = new RecordWriter(mirror, resource, { runId, reporter: silentReporter });
  const write = (records: readonly Json[], options: Partial<WriteOptions> = {}): WrittenRecords =>
    mirror.transaction(() => writer.write(records, { requestedAt: requestedAt(1), ...options }));
  const counts = () => {
    const { rows_changed, rows_new, rows_removed } = loadRun(mirror, runId);
    return [rows_new, rows_changed, rows_removed];
  };
  return { mirror, writer, write, counts };
}

const dated = (id: string, order_date: string | null, total_amount = 10) =>
  order(id, { order_date, total_amount });
const date = "2026-10-01T10:00:00.500Z";
const earlier = "2026-10-01T09:59:59Z";

test("if a response contains a record several times, RecordWriter.write stores the first copy and returns the others", async () => {
  const { counts, mirror, write } = await writing(orders);
  const ids = (names: readonly string[]) => names.map((name) => dated(name, date));
  expect(write(ids(["o1", "o2", "o3"]))).toEqual({
    ids: [1, 2, 3],
    addedIds: [1, 2, 3],
    copies: [],
    changeCount: 3,
  });
  const copies = [dated("o4", date, 5), dated("o1", date, 6), dated("o3", earlier)];
  expect(write([dated("o4", date), dated("o1", date, 7), dated("o2", date), ...copies])).toEqual({
    ids: [4, 1, 2],
    addedIds: [4],
    copies: [4, 1, 3].map((id, n) => ({ id, value: copies[n] })),
    changeCount: 2,
  });
  expect(counts()).toEqual([4, 1, 0]);
  expect(mirror.selectValues("SELECT total_amount FROM orders ORDER BY id")).toEqual([7, 10, 10, 10]);
});

test.each<["kept" | "replaced", string, string | null, string | null]>([
  ["kept", "returns it with an earlier date", date, earlier],
  ["replaced", "returns it with an earlier date in the same second", date, "2026-10-01T10:00:00.100Z"],
  ["replaced", "returns it with a later date", date, "2026-10-02T00:00:00Z"],
  ["replaced", "returns it with an unreadable date", date, "soon"],
  ["replaced", "returns it with a date for the first time", null, earlier],
])("a mirrored record is %s if the API %s", async (expected, _, before, after) => {
  const isReplaced = expected === "replaced";
  const { mirror, write } = await writing(orders);
  write([dated("o1", before)]);
  expect(write([dated("o1", after)]).copies).toHaveLength(isReplaced ? 0 : 1);
  expect(mirror.selectValue("SELECT order_date FROM orders")).toBe(isReplaced ? after : before);
});

test("removing an already removed record changes nothing", async () => {
  const { counts, mirror, write, writer } = await writing(orders);
  write([dated("o1", date), dated("o2", date)]);
  mirror.transaction(() => {
    writer.remove([99, 1], requestedAt(2));
    writer.remove([1], requestedAt(3));
  });
  expect(counts()).toEqual([2, 0, 1]);
  expect(
    mirror.selectRows("SELECT record_id, since_at, removed_at FROM records WHERE record_id = 1"),
  ).toEqual([{ record_id: 1, since_at: at(2), removed_at: at(2) }]);
  expect(mirror.selectValues("SELECT kind FROM changes")).toEqual(["removed"]);
});

test("a removed record that returns with an older date becomes current", async () => {
  const { mirror, write, writer } = await writing(orders);
  write([dated("o1", date), dated("o2", date)]);
  mirror.transaction(() => writer.remove([1], requestedAt(2)));
  expect(write([dated("o1", earlier)])).toMatchObject({ copies: [], changeCount: 1 });
  expect(mirror.selectValues("SELECT id FROM orders ORDER BY id")).toEqual(["o1", "o2"]);
  expect(mirror.selectValues("SELECT id FROM orders_removed")).toEqual([]);
});

test("RecordWriter.replace overwrites a mirrored record even if the new date is older, and ignores a record that is not mirrored", async () => {
  const { counts, mirror, write, writer } = await writing(orders);
  write([dated("o1", date)]);
  mirror.transaction(() => {
    for (const sent of [dated("o1", earlier), dated("o1", earlier), dated("o2", date)])
      writer.replace(sent, requestedAt(2));
    writer.writeDetails(dated("o2", date), requestedAt(2));
  });
  expect(counts()).toEqual([1, 1, 0]);
  expect(mirror.selectRows("SELECT order_date, synced_at FROM orders")).toEqual([
    { order_date: earlier, synced_at: at(2) },
  ]);
  expect(mirror.selectValues("SELECT field FROM changes")).toEqual(["order_date"]);
});

test("an unchanged record counts as changed if it was read with different request parameters", async () => {
  const { mirror, write } = await writing(analyticsClicks);
  const grouped = (group_by: string) => ({ parameters: { group_by } });
  write([{ total_clicks: 1 }], grouped("day"));
  expect(write([{ total_clicks: 1 }], grouped("day")).changeCount).toBe(0);
  for (const changed of [1, 0])
    expect(write([{ total_clicks: 1 }], grouped("month")).changeCount).toBe(changed);
  expect(mirror.selectValues("SELECT group_by FROM analytics_clicks_periods")).toEqual(["month"]);
});

test("if a record has no ID, its record key consists of a prefix and the record's position in the complete list", async () => {
  const { mirror, write } = await writing(gifts);
  write([{ color: "red" }, { color: "blue" }, { id: 7 }], { position: 5, keyPrefix: "list/" });
  expect(mirror.selectValues("SELECT key FROM records ORDER BY record_id")).toEqual([
    "list/#5",
    "list/#6",
    "list/7",
  ]);
});

test("a record does not count as changed if the API returns the fields of its details in a different order", async () => {
  const { counts, mirror, write, writer } = await writing(opportunities);
  const [listed, details] = [
    { id: "c1", title: "Spring" },
    { id: "c1", title: "Spring", note: "a" },
  ];
  write([listed]);
  mirror.transaction(() => {
    writer.writeDetails(details, requestedAt(2));
    writer.writeDetails({ note: "a", ...listed }, requestedAt(3));
  });
  expect(counts()).toEqual([1, 0, 0]);
  expect(mirror.selectRows("SELECT json, list_json, since_at, detailed_at FROM records")).toEqual([
    {
      json: JSON.stringify({ note: "a", ...listed }),
      list_json: JSON.stringify(listed),
      since_at: at(2),
      detailed_at: at(3),
    },
  ]);
});
