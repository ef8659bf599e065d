import { allResources } from "../resources/registry.js";
import type { Json } from "../util/json-value.js";
import { errorCode } from "../util/system-errors.js";
import {
  deleteInfo,
  type InfoName,
  loadInfo,
  type Mirror,
  parseStoredJson,
  saveInfo,
  saveJsonInfo,
  truncateLog,
} from "./database.js";
import { rebuildHostNames } from "./host-names.js";
import { rebuildTables } from "./rebuild.js";
import { diffRecords } from "./record-diff.js";
import { createRedactor, isImpliedBy, loadRedactionRules } from "./redaction-rules.js";
import { loadNewestRunId } from "./runs.js";

export interface RedactionResult {
  total: number;
  counts: Record<string, number>;
  noLongerOmitted: string[];
  warnings: string[];
}

/**
 * Applies the profile's list of omitted fields to all stored data. Also rewrites the mirror file if an earlier run
 * could not do so.
 * @returns null if the mirror already uses this list
 */
export function omitFields(mirror: Mirror, omit: readonly string[]): RedactionResult | null {
  const hasChanged = String(omit) !== String(loadRedactionRules(mirror).omit);
  const result = hasChanged ? redactMirror(mirror, [], omit) : null;
  scrubFile(mirror);
  return result;
}

/**
 * Removes the given hosts and all omitted fields from the records, their history and all tables. Call `scrubFile`
 * afterwards.
 * @param omit the new list of omitted fields, or undefined to keep the current list
 */
export function redactMirror(
  mirror: Mirror,
  hosts: readonly string[],
  omit?: readonly string[],
): RedactionResult {
  return mirror.transaction(() => {
    const noLongerOmitted = replaceRules(mirror, hosts, omit);
    defineSqlFunctions(mirror);
    const records = selectUnredacted(mirror);
    const counts: Record<string, number> = {};
    for (const record of records) {
      for (const sql of redactRecordSql) mirror.execute(sql, record);
      counts[record.resource] = (counts[record.resource] ?? 0) + 1;
    }
    if (records.length > 0) {
      saveInfo(mirror, "to_scrub", "1");
      saveInfo(mirror, "redacted_after_run", String(loadNewestRunId(mirror)));
    }
    const changed = allResources.filter(({ name }) => name in counts);
    const warnings = rebuildTables(mirror, changed);
    mirror.db.exec(redactSnapshotsSql);
    rebuildHostNames(mirror);
    return { total: records.length, counts, noLongerOmitted, warnings };
  });
}

/** Stores the new rules. Returns the fields that are no longer omitted. */
function replaceRules(
  mirror: Mirror,
  hosts: readonly string[],
  omit: readonly string[] | undefined,
): string[] {
  const before = loadRedactionRules(mirror);
  const now = omit ?? before.omit;
  const notImplied = (rules: readonly string[]) => rules.filter((rule) => !isImpliedBy(rule, now));
  const write = (name: InfoName, values: Iterable<string>) =>
    saveJsonInfo(mirror, name, [...new Set(values)]);
  write("omit", now);
  write("no_longer_omitted", notImplied([...before.noLongerOmitted, ...before.omit]));
  write("forgotten", [...before.forgotten, ...hosts]);
  return notImplied(before.omit);
}

/**
 * Rewrites the file after a redaction, because free pages and the log still contain the removed data.
 * @returns false if the disk is full or another program is reading the mirror, in which case the next run tries again
 */
export function scrubFile(mirror: Mirror): boolean {
  if (!mustBeScrubbed(mirror)) return true;
  try {
    mirror.db.exec("VACUUM");
  } catch (error) {
    if (errorCode(error) === "SQLITE_FULL") return false;
    throw error;
  }
  if (!truncateLog(mirror)) return false;
  mirror.transaction(() => deleteInfo(mirror, "to_scrub"));
  return true;
}

/**
 * Returns the ID of the newest run at the time of the last redaction, or null if nothing has ever been redacted.
 * Exports made before the redaction may still contain the removed data.
 */
export function loadRedactedAfterRun(mirror: Mirror): number | null {
  const runId = loadInfo(mirror, "redacted_after_run");
  return runId === null ? null : Number(runId);
}

export function mustBeScrubbed(mirror: Mirror): boolean {
  return loadInfo(mirror, "to_scrub") !== null;
}

/** Returns the records whose current or earlier versions still contain data that must be redacted. */
export function findUnredacted(mirror: Mirror): { id: number; resource: string; key: string }[] {
  defineSqlFunctions(mirror);
  return selectUnredacted(mirror);
}

/** Defines the SQL functions `redacted(resource, json)` and `redacted_fields(resource, json)`. */
function defineSqlFunctions(mirror: Mirror): void {
  const redactor = createRedactor(mirror);
  const parse = (json: string) => parseStoredJson<Json>(mirror, json, "a record");
  const redact = (resourceName: string, json: string) => redactor(parse(json), resourceName);
  mirror.db.function("redacted", (resource, json) => json && JSON.stringify(redact(resource, json)));
  mirror.db.function("redacted_fields", (resource, json) => {
    const changes = diffRecords(parse(json), redact(resource, json));
    return JSON.stringify(changes.map(({ field }) => field));
  });
}

function selectUnredacted(mirror: Mirror): { id: number; resource: string; key: string }[] {
  const { omit, forgotten } = loadRedactionRules(mirror);
  if (omit.length + forgotten.length === 0) return [];
  const select = `SELECT record_id AS id, resource, key FROM records AS r
    WHERE redacted(resource, json) <> json OR redacted(resource, list_json) <> list_json OR EXISTS (
      SELECT 1 FROM record_versions AS v
      WHERE v.record_id = r.record_id AND redacted(r.resource, v.json) <> v.json)`;
  return mirror.selectRows(select);
}

const redactRecordSql = [
  // Deletes logged changes to a redacted field, to any object that contains it, and to any field inside it. Nested
  // fields are logged under names such as `note_type`, so redacting `note` also deletes the changes to an unrelated
  // field with that name.
  `DELETE FROM changes WHERE resource = @resource AND key = @key AND EXISTS (
     SELECT 1 FROM (SELECT json FROM records WHERE record_id = @id
       UNION ALL SELECT json FROM record_versions WHERE record_id = @id) AS s, json_each(redacted_fields(@resource, s.json)) AS d
     WHERE d.value = field OR substr(d.value, 1, length(field) + 1) IN (field || '.', field || '_')
       OR substr(field, 1, length(d.value) + 1) IN (d.value || '.', d.value || '_'))`,
  "UPDATE records SET json = redacted(resource, json), list_json = redacted(resource, list_json) WHERE record_id = @id",
  "UPDATE record_versions SET json = redacted(@resource, json) WHERE record_id = @id",
];

const redactSnapshotsSql = `UPDATE analytics_hosts_snapshots SET host_username =
  redacted('analytics-hosts', json_object('host', json_object('id', host_id, 'username', host_username)))
    ->> '$.host.username'`;
