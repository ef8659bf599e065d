import { expect, test } from "vitest";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import { gifts } from "../../src/resources/undocumented.js";
import { saveCoverage } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { diffRecords } from "../../src/store/record-diff.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { insertRun, loadRun } from "../../src/store/runs.js";
import { loadUnexpectedColumns } from "../../src/store/schema-issues.js";
import type { Json } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { order, rows, unrecordedRun, write } from "./record-mirror.js";

const before = order("o1", { refund_amount: 0, host: { id: "h1", username: "ada" } });
const cases: [string, Json, Json, object[]][] = [
  ["equal versions have no differences", before, { ...before }, []],
  [
    "a different order of fields is not a difference",
    { a: 1, b: { c: 1, d: 2 } },
    { b: { d: 2, c: 1 }, a: 1 },
    [],
  ],
  ["null instead of a missing field is not a difference", { a: 1 }, { a: 1, b: null }, []],
  [
    "a changed amount is one difference",
    before,
    { ...before, refund_amount: 4.5 },
    [{ field: "refund_amount", topLevelField: "refund_amount", old: "0", new: "4.5" }],
  ],
  [
    "a difference in a nested object is reported with the name of the nested field's column",
    before,
    { ...before, host: { id: "h1", username: "bo" } },
    [{ field: "host_username", topLevelField: "host", old: "ada", new: "bo" }],
  ],
  [
    "an object that is replaced with null is one difference",
    { host: { id: "h1" } },
    { host: null },
    [{ field: "host", topLevelField: "host", old: '{"id":"h1"}', new: null }],
  ],
  [
    "a changed list of items without IDs is one difference",
    { line_items: [{ sku: "a" }] },
    { line_items: [{ sku: "b" }] },
    [{ field: "line_items", topLevelField: "line_items", old: '[{"sku":"a"}]', new: '[{"sku":"b"}]' }],
  ],
  ["a sum of doubles that differs in the last digits is not a difference", { a: 0.1 + 0.2 }, { a: 0.3 }, []],
  ...(
    [
      ["a string instead of a number", 1, "1"],
      ["an empty object instead of an empty list", [], {}],
      ["an empty list instead of an empty object", {}, []],
      ["an empty object instead of a number", 5, {}],
      ["a number instead of an empty object", {}, 5],
      ["a list with an additional item", [{ sku: "a" }], [{ sku: "a" }, { sku: "b" }]],
      ["a list item whose null field has a different name", [{ sku: null }], [{ title: null }]],
      ["a string instead of a list of items with IDs", [{ id: "a" }], "a"],
      ["a change in a list that contains an ID twice", [{ id: "a" }, { id: "a", n: 1 }], [{ id: "a" }]],
      ["a change in a list with numeric IDs", [{ id: 1 }], [{ id: 2 }]],
      ["a change in a list that contains null", [null], [{ id: "a" }]],
    ] as [string, Json, Json][]
  ).map(([what, old, now]): [string, Json, Json, object[]] => [
    `${what} is one difference`,
    { a: old },
    { a: now },
    [
      {
        field: "a",
        topLevelField: "a",
        old: JSON.stringify(old),
        new: now === String(now) ? now : JSON.stringify(now),
      },
    ],
  ]),
  ["a field that was null and is now missing is not a difference", { a: null }, {}, []],
  ["a new field with the value null is not a difference", {}, { a: null }, []],
  [
    "an item with the ID `constructor` is matched by its ID, like any other item",
    { a: [{ id: "constructor", n: 1 }] },
    { a: [{ id: "constructor", n: 2 }] },
    [{ field: "a.constructor.n", topLevelField: "a", old: "1", new: "2" }],
  ],
];
test.each(cases)("diffRecords compares two versions: %s", (_, old, now, changes) => {
  expect(diffRecords(old, now, orders)).toEqual(changes);
});

test("diffRecords matches list items by ID regardless of their order, and counts an added or removed item as one difference", () => {
  const item = (id: string, status: string) => ({ id, status });
  expect(
    diffRecords(
      { assignments: [item("a", "ACTIVE"), item("b", "ACTIVE")] },
      { assignments: [item("c", "READY"), item("a", "COMPLETED")] },
      opportunities,
    ),
  ).toEqual([
    { field: "assignments.a.status", topLevelField: "assignments", old: "ACTIVE", new: "COMPLETED" },
    { field: "assignments.b", topLevelField: "assignments", old: '{"id":"b","status":"ACTIVE"}', new: null },
    { field: "assignments.c", topLevelField: "assignments", old: null, new: '{"id":"c","status":"READY"}' },
  ]);
});

test("diffRecords reports a change within a JSON column as one difference", () => {
  expect(
    diffRecords({ host: { socials: { tiktok: "a" } } }, { host: { socials: { tiktok: "b" } } }, roster),
  ).toEqual([{ field: "host_socials", topLevelField: "host", old: '{"tiktok":"a"}', new: '{"tiktok":"b"}' }]);
});

const photo = (text: string) => order("o1", { host: { id: "h1", profile_photo: text } });
const attached = (url: string, filename = "brief.pdf") => ({ id: "p1", attachments: [{ url, filename }] });

test.each([
  [
    "the signature in a photo's URL changes",
    orders,
    photo("https://cdn.test/a.jpg?sig=1"),
    photo("https://cdn.test/a.jpg?sig=2"),
  ],
  [
    "a signature is added to a photo's URL",
    orders,
    photo("https://cdn.test/a.jpg"),
    photo("https://cdn.test/a.jpg?s"),
  ],
  [
    "the signature in a URL with an uppercase scheme changes",
    orders,
    photo("HTTP://cdn.test/a.jpg?sig=1"),
    photo("HTTP://cdn.test/a.jpg?sig=2"),
  ],
  [
    "the signature in a list item's URL changes",
    opportunities,
    attached("https://cdn.test/b?sig=1"),
    attached("https://cdn.test/b?sig=2"),
  ],
])("a record does not count as changed if %s", (_, resource, before, after) => {
  expect(diffRecords(before, after, resource)).toEqual([]);
});

test.each([
  [
    "its photo URL is replaced with the URL of a different file",
    "https://cdn.test/a.jpg?sig=1",
    "https://cdn.test/b.jpg?sig=2",
  ],
  ["the server in its photo URL changes", "https://cdn.test/a.jpg", "https://cdn2.test/a.jpg"],
  ["its photo field changes and is not a URL", "a?1", "a?2"],
  ["its photo URL is replaced with null", "https://cdn.test/a.jpg?sig=1", null],
])("a record counts as changed if %s", (_, old, now) => {
  const before = order("o1", { product: { id: "p", cover_photo: old } });
  const after = order("o1", { product: { id: "p", cover_photo: now } });
  expect(diffRecords(before, after, orders)).toEqual([
    { field: "product_cover_photo", topLevelField: "product", old, new: now },
  ]);
});

test("if a list item without an ID changes, the recorded change includes the new signature in the item's URL", () => {
  const [before, after] = [
    attached("https://cdn.test/b?sig=1"),
    attached("https://cdn.test/b?sig=2", "new.pdf"),
  ];
  expect(diffRecords(before, after, opportunities)).toEqual([
    {
      field: "attachments",
      topLevelField: "attachments",
      old: JSON.stringify(before.attachments),
      new: JSON.stringify(after.attachments),
    },
  ]);
});

test("if a list item with an ID changes, a new signature in the item's URL is not recorded as a change", () => {
  const assigned = (status: string, sig: number) => ({
    assignments: [{ id: "a", status, host: { profile_photo: `https://cdn.test/a.jpg?sig=${sig}` } }],
  });
  expect(diffRecords(assigned("READY", 1), assigned("ACTIVE", 2), opportunities)).toMatchObject([
    { field: "assignments.a.status" },
  ]);
});

test("a new query string in a campaign's target URL counts as a change, unlike a new signature in a file's URL", () => {
  const target = (query: string) => ({ id: "p1", target_url: `https://shop.test/?${query}` });
  expect(diffRecords(target("utm=a"), target("utm=b"), opportunities)).toHaveLength(1);
});

test("a new URL signature is stored in the record and the table row, but not recorded as a change", async () => {
  const mirror = await makeMirror();
  const campaign = (n: number) => ({
    id: "p1",
    assignments: [{ id: "a1", host: { id: "h1", profile_photo: `https://cdn.test/a.jpg?sig=${n}` } }],
    attachments: [{ url: `https://cdn.test/b.pdf?sig=${n}`, filename: "b.pdf" }],
  });
  writeRead(mirror, "opportunities", [campaign(1)], { at: "2026-11-01T00:00:00.000Z" });
  const runId = insertRun(mirror, "opportunities", "2026-11-02T00:00:00.000Z");
  const store = new RecordWriter(mirror, opportunities, { runId, reporter: silentReporter });
  mirror.transaction(() => store.write([campaign(2)], { requestedAt: Date.parse("2026-11-02") }));
  expect(loadRun(mirror, runId)).toMatchObject({ rows_new: 0, rows_changed: 0 });
  expect(rows(mirror, "SELECT json, since_at FROM records")).toEqual([
    { json: JSON.stringify(campaign(2)), since_at: "2026-11-01T00:00:00.000Z" },
  ]);
  expect(rows(mirror, "SELECT host_profile_photo AS url FROM opportunity_assignments")).toEqual([
    { url: "https://cdn.test/a.jpg?sig=2" },
  ]);
  expect(rows(mirror, "SELECT url FROM opportunity_attachments")).toEqual([
    { url: "https://cdn.test/b.pdf?sig=2" },
  ]);
  for (const table of ["changes", "record_versions"])
    expect(rows(mirror, `SELECT * FROM ${table}`)).toEqual([]);
  const requestedAt = Date.parse("2026-11-03");
  mirror.transaction(() => {
    store.write([{ ...campaign(3), title: "Spring" }], { requestedAt });
    for (const title of ["Spring", "Summer"]) store.writeDetails({ ...campaign(4), title }, requestedAt);
    store.writeDetails({ ...campaign(5), title: "Autumn" }, requestedAt);
  });
  expect(mirror.selectValues("SELECT field || ' ' || new FROM changes")).toEqual([
    "title Spring",
    "title Summer",
    "title Autumn",
  ]);
});

test("an undocumented field gets a column once a record contains a scalar value for it, even in a nested object", async () => {
  const mirror = await makeMirror();
  write(mirror, gifts, [{ id: "g1", status: "sent", host: { id: "h1", deep: { x: 1, deeper: { y: 2 } } } }]);
  write(mirror, gifts, [{ id: "g2", value: 2.5, live: true, tags: ["a"], "odd name": 1, SELECT: "kept" }]);
  expect(rows(mirror, "SELECT * FROM gifts ORDER BY record_id")).toMatchObject([
    { id: "g1", status: "sent", host_id: "h1", host_deep_x: 1, value: null, live: null },
    { id: "g2", status: null, value: 2.5, live: 1, SELECT: "kept", odd_name: 1 },
  ]);
  const names = rows<{ name: string }>(mirror, "SELECT name FROM discovered_columns").map(({ name }) => name);
  expect(names).not.toContain("tags");
});

test("columns for undocumented fields accept any value, never reuse the name of a predefined column, and are limited to 300 per table", async () => {
  const mirror = await makeMirror();
  write(mirror, gifts, [
    { id: 1, v: "a", record_id: 77, Synced_At: "x", removed_at: "y" },
    { id: 2, v: 5 },
    { id: 3, v: 2.5 },
    { id: 4, v: true },
  ]);
  expect(rows(mirror, "SELECT v, typeof(v) AS t FROM gifts ORDER BY v")).toEqual([
    { v: 1, t: "integer" },
    { v: 2.5, t: "real" },
    { v: 5, t: "integer" },
    { v: "a", t: "text" },
  ]);
  expect(rows(mirror, "SELECT record_id_2, Synced_At_2, removed_at_2 FROM gifts LIMIT 1")).toEqual([
    { record_id_2: 77, Synced_At_2: "x", removed_at_2: "y" },
  ]);
  write(mirror, gifts, [Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`c${n}`, n]))]);
  expect(rows(mirror, "SELECT count(*) AS n FROM discovered_columns WHERE table_name = 'gifts'")).toEqual([
    { n: 300 },
  ]);
});

test("if the API sends a new field, the field's path is reported only once per mirror", async () => {
  const mirror = await makeMirror();
  const grown = (id: string) =>
    order(id, {
      tax: 1,
      host: { id: "h", pronouns: "x", payment: { a: 1 } },
      line_items: [
        { title: "a", gift: true },
        { title: "b", gift: false },
      ],
    });
  const first = write(mirror, orders, [grown("o1"), grown("o2")]).map((text) => /`(.*)`/.exec(text)?.[1]);
  expect(first).toEqual(["host.pronouns", "host.payment", "line_items.gift", "tax"]);
  expect(write(mirror, orders, [grown("o3")])).toEqual([]);
  expect(write(mirror, orders, [order("o4", { other: null })])).toHaveLength(1);
});

test("storing a value of an unexpected type increases the column's count of unexpected values, but prints no message", async () => {
  const mirror = await makeMirror();
  const odd = (id: string) => order(id, { total_amount: "10.00", host: "ada" });
  expect(write(mirror, orders, [odd("o1"), odd("o2")])).toEqual([]);
  const found = [
    { table: "orders", column: "host", found: "string", records: 2 },
    { table: "orders", column: "total_amount", found: "number as text", records: 2 },
  ];
  expect(loadUnexpectedColumns(mirror, "orders")).toEqual(found);
  rebuildTables(mirror, [orders]);
  expect(loadUnexpectedColumns(mirror, "orders")).toEqual(found);
  write(mirror, orders, [odd("o1"), order("o2")]);
  expect(loadUnexpectedColumns(mirror, "orders").map(({ records }) => records)).toEqual([1, 1]);
});

test("at most 100 new fields are reported for a documented resource, and none for an undocumented one", async () => {
  const mirror = await makeMirror();
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`new_${n}`, n]));
  expect(write(mirror, orders, [order("o1", many)])).toHaveLength(100);
  expect(write(mirror, gifts, [{ id: 1, anything: { goes: 1 } }])).toEqual([]);
});

test("a record is neither rewritten nor recorded as changed if only the order of its fields has changed", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1")]);
  const before = rows(mirror, "SELECT record_id, since_at FROM records");
  const reversed = Object.fromEntries(Object.entries(order("o1")).reverse());
  write(mirror, orders, [reversed], { requestedAt: Date.parse("2026-11-09") });
  expect(rows(mirror, "SELECT record_id, since_at FROM records")).toEqual(before);
  expect(rows(mirror, "SELECT * FROM changes")).toEqual([]);
});

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const changes = (mirror: Mirror) =>
  rows(
    mirror,
    "SELECT kind, field, last_seen_unchanged_at AS since, seen_changed_at AS seen FROM changes ORDER BY change_id",
  );

test("if a removed record returns with a new value, the change's `last_seen_unchanged_at` is the last read that returned the old value", async () => {
  const mirror = await makeMirror();
  for (const day of [1, 2]) writeRead(mirror, "orders", [order("o1")], { at: at(day), whole: true });
  writeRead(mirror, "orders", [], { at: at(3), remove: ["o1"], whole: true });
  writeRead(mirror, "orders", [], { at: at(4), whole: true });
  writeRead(mirror, "orders", [order("o1", { refund_amount: 5 })], { at: at(5), whole: true });
  writeRead(mirror, "orders", [order("o1", { refund_amount: 6 })], { at: at(6) });
  expect(changes(mirror)).toEqual([
    { kind: "removed", field: null, since: at(2), seen: at(3) },
    { kind: "returned", field: null, since: at(4), seen: at(5) },
    { kind: "changed", field: "refund_amount", since: at(2), seen: at(5) },
    { kind: "changed", field: "refund_amount", since: at(5), seen: at(6) },
  ]);
});

test("if a record's date changes, the change's `last_seen_unchanged_at` is the last read that returned the old date", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [order("o1", { order_date: "2026-08-01T00:00:00Z" })], { at: at(1) });
  const recent = {
    from: Date.parse("2026-09-01"),
    to: Date.parse(at(2)),
    requestedAt: Date.parse(at(2)),
    runId: 1,
  };
  mirror.transaction(() => saveCoverage(mirror, "orders", [recent]));
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  const value = order("o1", { order_date: "2026-09-05T00:00:00Z", refund_amount: 5 });
  mirror.transaction(() => store.write([value], { requestedAt: Date.parse(at(3)) }));
  expect(changes(mirror)).toEqual([
    { kind: "changed", field: "order_date", since: at(1), seen: at(3) },
    { kind: "changed", field: "refund_amount", since: at(1), seen: at(3) },
  ]);
});

test.each([
  ["is recorded as added", false, [{ kind: "added", field: null, since: at(2), seen: at(3) }]],
  ["is not recorded as added if the API returned it for a wrong date", true, []],
])("a new record whose date had already been read %s", async (_, isFaulty, logged) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { at: at(2), whole: true });
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  mirror.transaction(() => store.write([order("o1")], { requestedAt: Date.parse(at(3)), isFaulty }));
  expect(changes(mirror)).toEqual(logged);
});

test("if two removed records return with new values, each change's `last_seen_unchanged_at` is the last read that returned that record", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [order("o1")], { at: at(1) });
  writeRead(mirror, "orders", [order("o2")], { at: at(2) });
  writeRead(mirror, "orders", [], { at: at(3), remove: ["o1", "o2"] });
  writeRead(mirror, "orders", [order("o1", { refund_amount: 5 }), order("o2", { refund_amount: 5 })], {
    at: at(4),
  });
  expect(
    rows(mirror, "SELECT key, last_seen_unchanged_at AS since FROM changes WHERE field IS NOT NULL"),
  ).toEqual([
    { key: "o1", since: at(1) },
    { key: "o2", since: at(2) },
  ]);
});

test("writing a record reports a damaged mirror if a mirrored record is not valid JSON", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1")]);
  mirror.db.exec("UPDATE records SET json = 'not json'");
  expect(() => write(mirror, orders, [order("o1")])).toThrow(
    /^The mirror is damaged \(record 1 is not JSON\)/,
  );
});
