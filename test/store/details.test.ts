import { expect, test } from "vitest";
import { analyticsHosts } from "../../src/resources/analytics-hosts.js";
import { content } from "../../src/resources/content.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { surveyResults } from "../../src/resources/undocumented.js";
import type { Mirror } from "../../src/store/database.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import {
  apiIdOrNull,
  createRecordComparison,
  isCurrentRecord,
  loadCurrentRecords,
  loadDetailIds,
} from "../../src/store/records.js";
import { insertRun, loadRun, updateRun } from "../../src/store/runs.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";
import { makeMirror } from "../support/mirror.js";
import { rows, write as writeRecords } from "./record-mirror.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const listed = { id: "c1", title: "Spring", status: "OPEN" };
const detailed = { ...listed, deliverables: [{ id: "d1", title: "Reel" }], assignments: [] };

async function campaigns() {
  const mirror = await makeMirror();
  const runId = insertRun(mirror, "opportunities", at(1));
  const store = new RecordWriter(mirror, opportunities, { runId, reporter: silentReporter });
  /** @returns the counts of new and changed records */
  function write(value: JsonObject, day: number, isDetail = false) {
    updateRun(mirror, runId, { rows_new: 0, rows_changed: 0 });
    const requestedAt = Date.parse(at(day));
    mirror.transaction(() =>
      isDetail ? store.writeDetails(value, requestedAt) : store.write([value], { requestedAt }),
    );
    const { rows_new: added, rows_changed: changed } = loadRun(mirror, runId);
    return { added, changed };
  }
  return { mirror, write };
}

const present = (mirror: Mirror) => [...loadCurrentRecords(mirror, "opportunities")];
const changes = (mirror: Mirror) =>
  rows(mirror, "SELECT field, old, new, last_seen_unchanged_at AS since FROM changes ORDER BY change_id");

test("the first read of a campaign's details is not recorded as a change, but later changes to the details are", async () => {
  const { mirror, write } = await campaigns();
  write(listed, 1);
  expect(write(detailed, 2, true)).toMatchObject({ added: 0, changed: 0 });
  expect(present(mirror)).toMatchObject([{ value: detailed, detailedAt: at(2), hasOutdatedDetails: false }]);
  expect(changes(mirror)).toEqual([]);
  expect(rows(mirror, "SELECT json, until_at FROM record_versions")).toEqual([
    { json: JSON.stringify(listed), until_at: at(2) },
  ]);
  const later = { ...detailed, deliverables: [{ id: "d1", title: "Story" }] };
  expect(write(later, 4, true)).toMatchObject({ changed: 1 });
  // The list does not return this field, so the field was last seen in the previous details.
  expect(changes(mirror)).toEqual([
    { field: "deliverables.d1.title", old: "Reel", new: "Story", since: at(2) },
  ]);
});

test("for a nested field, a change's `last_seen_unchanged_at` is the last read of a list with that field or, if no list has the field, of the details", async () => {
  const { mirror, write } = await campaigns();
  const withFee = (flatFee: number) => ({ ...listed, payment: { flatFee } });
  write(withFee(100), 1);
  write({ ...detailed, ...withFee(100) }, 2, true);
  write({ ...withFee(100), title: "Summer" }, 3);
  const deliverables = [{ id: "d1", title: "Story" }];
  write({ ...detailed, ...withFee(200), title: "Summer", deliverables }, 4, true);
  expect(changes(mirror)).toEqual([
    { field: "title", old: "Spring", new: "Summer", since: at(2) },
    { field: "deliverables.d1.title", old: "Reel", new: "Story", since: at(2) },
    { field: "payment_flatFee", old: "100", new: "200", since: at(3) },
  ]);
});

test("a newer list item overwrites the fields of a campaign's details, and removes fields that the list no longer returns", async () => {
  const { mirror, write } = await campaigns();
  write(listed, 1);
  write(detailed, 2, true);
  write(listed, 3);
  expect(present(mirror)).toMatchObject([{ value: detailed, hasOutdatedDetails: false }]);
  const next = { id: "c1", title: "Summer" };
  expect(write(next, 4)).toMatchObject({ changed: 1 });
  const { status: _, ...rest } = detailed;
  expect(present(mirror)).toMatchObject([{ value: { ...rest, title: "Summer" }, hasOutdatedDetails: true }]);
  expect(mirror.selectValue("SELECT list_json FROM records")).toBe(JSON.stringify(next));
  expect(rows(mirror, "SELECT title, status FROM opportunities")).toEqual([
    { title: "Summer", status: null },
  ]);
  expect(rows(mirror, "SELECT id FROM opportunity_deliverables")).toEqual([{ id: "d1" }]);
  write({ ...rest, title: "Summer" }, 5, true);
  expect(present(mirror)).toMatchObject([{ detailedAt: at(5), hasOutdatedDetails: false }]);
});

test("a campaign whose list item is unchanged counts as unchanged, even though its stored details contain additional fields", async () => {
  const { mirror, write } = await campaigns();
  write(listed, 1);
  write(detailed, 2, true);
  const compare = createRecordComparison(mirror, opportunities);
  expect(compare(listed, "c1")).toBe("same");
  expect(compare({ ...listed, title: "Summer" }, "c1")).toBe("changed");
  expect(compare(listed, "c2")).toBe("absent");
});

test("if the campaign list starts to return a field, the list's value replaces the value from the details", async () => {
  const { mirror, write } = await campaigns();
  write({ id: "c1", title: "Spring" }, 1);
  write(detailed, 2, true);
  write({ id: "c1", title: "Spring", status: "DONE" }, 3);
  expect(present(mirror)).toMatchObject([{ value: { ...detailed, status: "DONE" } }]);
});

test("if the list stops returning a field, the field is removed from the record, even if it first appeared in the details", async () => {
  const { mirror, write } = await campaigns();
  const withNote = { note: "a", ...listed };
  write(listed, 1);
  write(withNote, 2, true);
  expect(write(withNote, 3)).toEqual({ added: 0, changed: 0 });
  expect(write(listed, 4)).toEqual({ added: 0, changed: 1 });
  expect(present(mirror)).toMatchObject([{ value: listed, hasOutdatedDetails: true }]);
});

test("loadCurrentRecords returns only current records and, if a suffix is given, only those whose keys end with it", async () => {
  const mirror = await makeMirror();
  writeRecords(
    mirror,
    opportunities,
    ["c", "b/x", "a/x", "d/x"].map((id) => ({ id })),
  );
  writeRecords(mirror, surveyResults, [{ id: "e/x" }]);
  mirror.db.exec("UPDATE records SET removed_at = '2026' WHERE key = 'd/x'");
  const keys = (suffix?: string) =>
    [...loadCurrentRecords(mirror, "opportunities", suffix)].map(({ key }) => key);
  expect([keys(), keys("/x")]).toEqual([
    ["c", "b/x", "a/x"],
    ["b/x", "a/x"],
  ]);
  const isCurrent = (key: string) => isCurrentRecord(mirror, "opportunities", key);
  expect(["c", "d/x", "e/x"].map(isCurrent)).toEqual([true, false, false]);
  const compare = createRecordComparison(mirror, opportunities);
  expect(["c", "d/x", "e/x"].map((id) => compare({ id }, id))).toEqual(["same", "absent", "absent"]);
});

test.each([
  [
    "the first key field if the resource has several, such as `source` and `id`",
    content,
    { source: "upload", id: "c1" },
    "upload",
  ],
  ["the field `id` as text if the resource has no key fields", analyticsHosts, { id: 7 }, "7"],
  ["null if the record has no field `id`", opportunities, { title: "Spring" }, null],
])("the ID with which a record is requested from the API is %s", (_, resource, value, expected) => {
  expect(apiIdOrNull(resource, value)).toBe(expected);
});

test("loadDetailIds groups the current survey results by survey", async () => {
  const mirror = await makeMirror();
  const results = { s1: [{ id: "a" }, { id: "b" }], s2: [{ id: "c" }, { id: "d" }] };
  for (const [survey_id, records] of Object.entries(results))
    writeRecords(mirror, surveyResults, records, { parameters: { survey_id } });
  mirror.db.exec("UPDATE records SET removed_at = '2026' WHERE key = 'd'");
  expect(loadDetailIds(mirror, "survey-results", "survey_id")).toEqual(
    new Map([
      ["s1", [1, 2]],
      ["s2", [3]],
    ]),
  );
});
