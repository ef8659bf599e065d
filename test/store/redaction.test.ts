import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { opportunities } from "../../src/resources/opportunities.js";
import { closeMirror, connect, type Mirror, saveInfo, saveJsonInfo } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { saveRanking } from "../../src/store/ranking-history.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import {
  findUnredacted,
  loadRedactedAfterRun,
  mustBeScrubbed,
  omitFields,
  redactMirror,
  scrubFile,
} from "../../src/store/redact-mirror.js";
import {
  createRedactor,
  createRestorer,
  isImpliedBy,
  loadRedactionRules,
  omitsHostNames,
} from "../../src/store/redaction-rules.js";
import { loadNewestRunId } from "../../src/store/runs.js";
import type { Json, JsonObject } from "../../src/util/json-value.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { rows, unrecordedRun } from "./record-mirror.js";

async function withRules(rules: { omit?: string[]; forgotten?: string[]; no_longer_omitted?: string[] }) {
  const mirror = await makeMirror();
  mirror.transaction(() => {
    for (const [name, list] of Object.entries(rules)) saveJsonInfo(mirror, name as "omit", list);
  });
  return mirror;
}

test.each<[string, { omit?: string[]; forgotten?: string[] }, Json, Json]>([
  ["nothing if no field is omitted and no host is forgotten", {}, { a: 1 }, { a: 1 }],
  [
    "the field `user.host.name` if `host.name` is omitted",
    { omit: ["host.name"] },
    { host: { name: "x", name_kana: "x" }, name: "x", ghost: { name: "x" }, user: { host: { name: "x" } } },
    { host: { name_kana: "x" }, name: "x", ghost: { name: "x" }, user: { host: {} } },
  ],
  [
    "the field `name` of each item in the list `items` if `items.name` is omitted",
    { omit: ["items.name"] },
    { items: [{ name: "x", n: 1 }] },
    { items: [{ n: 1 }] },
  ],
  [
    "the field `name` of an order if `orders:name` is omitted",
    { omit: ["orders:name"] },
    { name: "x", n: 1 },
    { n: 1 },
  ],
  [
    "nothing from an order if `roster:name` is omitted",
    { omit: ["roster:name"] },
    { name: "x" },
    { name: "x" },
  ],
  [
    "every field of a forgotten host except the ID",
    { forgotten: ["h1", "7"] },
    {
      host: { id: "h1", name: "x" },
      hosts: [
        { id: 7, name: "x" },
        { id: "h2", name: "y" },
      ],
    },
    { host: { id: "h1" }, hosts: [{ id: 7 }, { id: "h2", name: "y" }] },
  ],
  [
    "fields such as `host_name` from an object whose `host_id` is the ID of a forgotten host",
    { forgotten: ["h1"] },
    [
      { host_id: "h1", host_name: "x", host_identity: "x", ghost_name: "y", title: "y", id: "d1" },
      { host_id: "h2", host_name: "x" },
    ],
    [
      { host_id: "h1", ghost_name: "y", title: "y", id: "d1" },
      { host_id: "h2", host_name: "x" },
    ],
  ],
])("redaction removes %s", async (_, rules, record, expected) => {
  expect(createRedactor(await withRules(rules))(record, "orders")).toEqual(expected);
});

const last = (name: string) => ({ last_name: name });

test.each<[string, Json, Json, Json]>([
  [
    "adds the field to the stored record",
    { id: 1 },
    { id: 1, ...last("x"), other: 2 },
    { id: 1, ...last("x") },
  ],
  ["does not change a value that is already stored", last("old"), last("new"), last("old")],
  [
    "adds the field to a nested object",
    { host: { id: 1 } },
    { host: last("x") },
    { host: { id: 1, ...last("x") } },
  ],
  [
    "adds the field to list items with the same ID",
    [{ id: 1 }, { id: 2 }, { id: 3 }],
    [{ id: 2, ...last("b") }, null, { id: 1, ...last("a") }],
    [{ id: 1, ...last("a") }, { id: 2, ...last("b") }, { id: 3 }],
  ],
  [
    "adds the field to list items without IDs at the same position",
    [{}, {}, null, {}],
    [last("a"), last("b"), last("c")],
    [last("a"), last("b"), null, {}],
  ],
  [
    "adds the field only at the path that was omitted",
    { deals: [{ host: { id: 1 } }] },
    { deals: [{ host: { id: 1, name: "x" }, name: "x" }], host: { name: "x" } },
    { deals: [{ host: { id: 1, name: "x" } }] },
  ],
  [
    "keeps a stored null in place of the object around the field",
    { host: null },
    { host: last("x") },
    { host: null },
  ],
  [
    "keeps a stored object if the API returns null in its place",
    { host: { id: 1 } },
    { host: null },
    { host: { id: 1 } },
  ],
  [
    "keeps a stored object if the API returns a list in its place",
    { host: {} },
    { host: [last("x")] },
    { host: {} },
  ],
  [
    "keeps a stored list if the API returns an object in its place",
    { host: [{ id: 1 }] },
    { host: last("x") },
    { host: [{ id: 1 }] },
  ],
])("once a field is no longer omitted, re-reading a record %s", async (_, stored, sent, expected) => {
  const restore = createRestorer(await withRules({ no_longer_omitted: ["last_name", "deals.host.name"] }));
  expect(restore(stored, sent, "orders")).toEqual(expected);
  expect(createRestorer(await withRules({}))(stored, sent, "orders")).toEqual(stored);
});

test.each([
  ["host.last_name", "title, last_name"],
  ["roster:last_name", "last_name"],
  ["roster:host.last_name", "roster:last_name"],
])("the field `%s` is already omitted if a profile omits the fields `%s`", (rule, rules) => {
  expect(isImpliedBy(rule, rules.split(", "))).toBe(true);
});

test.each([
  ["last_name", "host.last_name"],
  ["last_name", "roster:last_name"],
  ["roster:last_name", "orders:last_name"],
])("the rule `%s` omits fields that the rule `%s` does not omit", (rule, other) => {
  expect(isImpliedBy(rule, [other])).toBe(false);
});

test.each([
  ["last_name", "omits"],
  ["host.first_name", "omits"],
  ["roster:first_name", "omits"],
  ["nick_first_name", "does not omit"],
  ["last_name.kana", "does not omit"],
  ["host.name", "does not omit"],
])("a profile that omits the field %s %s the names of hosts", (rule, expected) => {
  expect(omitsHostNames({ omit: ["title", rule] })).toBe(expected === "omits");
});

const hostOf = (n: number, fields: JsonObject = {}) => ({
  id: `host-${n}`,
  username: `name-${n}`,
  ...fields,
});
const loggedFields = (mirror: Mirror) =>
  rows<{ field: string }>(mirror, "SELECT field FROM changes ORDER BY field").map(({ field }) => field);

/**
 * Creates a mirror in which an order lost host 1, host 2 of another order was renamed, and a third order gained host 3.
 */
async function withHosts() {
  const mirror = await makeMirror();
  const orders = (fields: JsonObject, ...hosts: Json[]) =>
    hosts.map((host, n) => anOrder(n + 1, { ...(n === 0 && fields), host }));
  writeRead(mirror, "orders", orders({}, hostOf(1), hostOf(2), null));
  const next = orders({ total_amount: 5 }, null, hostOf(2, { username: "name-2b" }), hostOf(3));
  writeRead(mirror, "orders", next, { at: "2026-11-02T00:00:00.000Z" });
  mirror.transaction(() =>
    saveRanking(
      mirror,
      0,
      [1, 2].map((n) => ({ host: hostOf(n), clicks: 1 })),
    ),
  );
  return mirror;
}

test("forgetting a host removes the host's data from records, earlier versions, recorded changes, host names and the ranking", async () => {
  const mirror = await withHosts();
  expect(findUnredacted(mirror)).toEqual([]);
  expect(loggedFields(mirror)).toEqual(["host", "host", "host_username", "total_amount"]);
  expect(redactMirror(mirror, ["host-1"])).toMatchObject({ total: 1, counts: { orders: 1 }, warnings: [] });
  expect(loggedFields(mirror)).toEqual(["host", "host_username", "total_amount"]);
  const versions = "SELECT json -> '$.host' AS host FROM record_versions ORDER BY version_id";
  expect(mirror.selectValues(versions)).toEqual(['{"id":"host-1"}', JSON.stringify(hostOf(2)), "null"]);
  expect(mirror.selectValues("SELECT DISTINCT host_id FROM host_names WHERE username IS NOT NULL")).toEqual([
    "host-2",
    "host-3",
  ]);
  expect(rows(mirror, "SELECT host_id, host_username FROM analytics_hosts_snapshots")).toEqual([
    { host_id: "host-1", host_username: null },
    { host_id: "host-2", host_username: "name-2" },
  ]);
  expect(mirror.selectValues("SELECT DISTINCT list_json FROM records")).toEqual([null]);
  expect([findUnredacted(mirror), loadRedactedAfterRun(mirror)]).toEqual([[], loadNewestRunId(mirror)]);
  expect(redactMirror(mirror, ["host-3", "host-1"])).toMatchObject({ total: 1, counts: { orders: 1 } });
  expect(loggedFields(mirror)).toEqual(["host_username", "total_amount"]);
  expect(loadRedactionRules(mirror).forgotten).toEqual(["host-1", "host-3"]);
});

test("a search for data that must be removed finds a stored record that contains the name of a forgotten host", async () => {
  const mirror = await withHosts();
  mirror.transaction(() => saveJsonInfo(mirror, "forgotten", ["host-1"]));
  expect(findUnredacted(mirror)).toEqual([{ id: 1, resource: "orders", key: "order-1" }]);
});

test("omitting the `host` field deletes the recorded changes to hosts, and reports the number of changed records per resource", async () => {
  const mirror = await withHosts();
  writeRead(mirror, "roster", [{ relationship_id: "r1", host: hostOf(1) }]);
  expect(redactMirror(mirror, [], ["host"])).toMatchObject({ total: 4, counts: { orders: 3, roster: 1 } });
  expect(loggedFields(mirror)).toEqual(["total_amount"]);
});

test("omitting the `tag` field keeps the recorded changes to the `tagline` field", async () => {
  const mirror = await makeMirror();
  for (const n of [1, 2]) writeRead(mirror, "orders", [anOrder(1, { tag: `${n}`, tagline: `${n}` })]);
  expect(redactMirror(mirror, [], ["tag"]).counts).toEqual({ orders: 1 });
  expect(loggedFields(mirror)).toEqual(["tagline"]);
});

test("omitting the `host` field of orders keeps the recorded changes to the host of a roster record with the same record key", async () => {
  const mirror = await withHosts();
  for (const n of [1, 2]) writeRead(mirror, "roster", [{ relationship_id: "order-2", host: hostOf(n) }]);
  expect(redactMirror(mirror, [], ["orders:host"]).counts).toEqual({ orders: 3 });
  expect(loggedFields(mirror)).toEqual(["host_id", "host_username", "total_amount"]);
});

test("omitting a field removes the field from a campaign's stored list item, even if the campaign's details lack it", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "opportunities", [{ id: "c1", title: "Spring", note: "secret" }]);
  const store = new RecordWriter(mirror, opportunities, unrecordedRun(2));
  mirror.transaction(() => store.writeDetails({ id: "c1", title: "Spring" }, 0));
  mirror.db.exec("DELETE FROM record_versions");
  expect(redactMirror(mirror, [], ["note"]).total).toBe(1);
  expect(mirror.selectValue("SELECT list_json FROM records")).toBe('{"id":"c1","title":"Spring"}');
});

test("if a profile's omitted fields change, the mirror stores which fields are no longer omitted", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  expect([omitFields(mirror, []), loadRedactedAfterRun(mirror)]).toEqual([null, null]);
  const change = (...omit: string[]) => {
    const result = omitFields(mirror, omit);
    expect(omitFields(mirror, omit)).toBeNull();
    const { noLongerOmitted } = loadRedactionRules(mirror);
    return [result?.total, result?.noLongerOmitted, noLongerOmitted];
  };
  expect(change("host.first_name")).toEqual([1, [], []]);
  expect(change()).toEqual([0, ["host.first_name"], ["host.first_name"]]);
  expect(change("first_name")).toEqual([0, [], []]);
  expect(change("currency", "title")).toEqual([1, ["first_name"], ["first_name"]]);
  expect(change("title")).toEqual([0, ["currency"], ["first_name", "currency"]]);
  expect(change("currency")).toEqual([0, ["title"], ["first_name", "title"]]);
  const before = loadRedactedAfterRun(mirror);
  writeRead(mirror, "orders", []);
  expect(redactMirror(mirror, ["host-9"]).total).toBe(0);
  expect(loadRedactionRules(mirror).omit).toEqual(["currency"]);
  // Nothing has been removed, so earlier exports remain valid and the file is not rewritten.
  expect([loadRedactedAfterRun(mirror), mustBeScrubbed(mirror)]).toEqual([before, false]);
});

test("redacted data stays in the mirror file until the file is rewritten, which is possible only while no other program is reading it", async () => {
  const { db, path } = await withHosts();
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  const [mirror, reader] = [await openMirror(path), await connect(path, { readonly: true })];
  const isInFile = () =>
    ["", "-wal"].some((end) => existsSync(path + end) && readFileSync(path + end).includes("name-1"));
  reader.db.exec("BEGIN; SELECT count(*) FROM records");
  expect([mustBeScrubbed(mirror), isInFile()]).toEqual([false, true]);
  redactMirror(mirror, ["host-1"]);
  expect([mustBeScrubbed(mirror), scrubFile(mirror), mustBeScrubbed(mirror)]).toEqual([true, false, true]);
  reader.db.close();
  expect(omitFields(mirror, [])).toBeNull();
  expect([mustBeScrubbed(mirror), isInFile()]).toEqual([false, false]);
  const { mtimeMs } = statSync(path);
  expect([scrubFile(mirror), statSync(path).mtimeMs]).toEqual([true, mtimeMs]);
  closeMirror(mirror);
});

test("if the disk is full, redacted data is not removed from the mirror file until a later run, but any other error is thrown", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => saveInfo(mirror, "to_scrub", "1"));
  const failWith = (code: string) => {
    mirror.db.exec = () => {
      throw Object.assign(new Error("reason"), { code });
    };
  };
  failWith("SQLITE_FULL");
  expect([scrubFile(mirror), mustBeScrubbed(mirror)]).toEqual([false, true]);
  failWith("SQLITE_IOERR");
  expect(() => scrubFile(mirror)).toThrow("reason");
});
