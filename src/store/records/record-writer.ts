import { mergesDetails, type Resource } from "../../resources/resource.js";
import { tablesOf } from "../../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../../util/json-value.js";
import { startOfSecond } from "../../util/ranges.js";
import type { Reporter } from "../../util/reporter.js";
import { ChangeLog, type ReadHistory } from "../history/change-log.js";
import { openHostNames } from "../history/host-names.js";
import type { Mirror } from "../mirror/database.js";
import { createRedactor, createRestorer } from "../redaction/redaction-rules.js";
import { addWrittenRows } from "../state/runs.js";
import { AttributeWatch } from "../tables/attribute-watch.js";
import { Projection } from "../tables/projection.js";
import { SchemaIssues } from "../tables/schema-issues.js";
import { sameRecord } from "./record-diff.js";
import { recordDate, recordKey } from "./record-key.js";
import {
  type MirroredRecord,
  parseRecord,
  type RecordContent,
  type RecordRow,
  RecordTable,
} from "./record-table.js";

export interface RecordWriterOptions extends ReadHistory {
  /** The run that new, changed and removed records are counted for. */
  runId: number;
  /** Receives unknown attributes and renamed columns, each once per mirror. */
  reporter: Pick<Reporter, "note" | "warn">;
}

export interface ResponseOptions {
  /** When the response was requested, ISO 8601. */
  readAt: string;
  /** Parameters of the request, such as a month, for columns whose values the records lack. */
  context?: JsonObject;
  /** The position of the first record in the complete list: the key of records without an ID. */
  position?: number;
  /** A prefix for every key: the key of the record that these records are part of. */
  keyPrefix?: string;
  /** True if the records are details. Otherwise they are items of the list, and details that were read before are kept. */
  isDetail?: boolean;
  /** True to set the read time of unchanged records, too. */
  touch?: boolean;
  /** True if the API returned the records in a range without their dates: coverage then says nothing about them. */
  isOutsideRange?: boolean;
  /** True to skip records that are older than the mirrored version. */
  newestOnly?: boolean;
}

/** The result of writing the records of a response. */
export interface WrittenRecords {
  /** The IDs of the records that were not skipped, in the order of the response. */
  ids: number[];
  /** Those of them that are new. */
  added: number[];
  /** The copies that were skipped: the API may list a record more than once. */
  copies: SkippedCopy[];
  /** The number of records that are new or have changed. */
  changed: number;
}

/** A copy of a record that was not written, and the ID of the mirrored record. */
export interface SkippedCopy {
  id: number;
  value: Json;
}

/** `same`: nothing changed. `rows`: only the rows or the read time did. `older`: the record was skipped. */
type WriteEffect = "same" | "rows" | "added" | "changed" | "older";

interface WrittenRecord {
  id: number;
  effect: WriteEffect;
  /** The complete record, with its details. */
  value: Json;
  /** When this version was first read, ISO 8601. */
  sinceAt: string;
}

/**
 * Writes one resource's records, together with their rows in the typed tables and their history. Call its methods in a
 * transaction. New, changed and removed records are counted in the run's row.
 */
export class RecordWriter {
  readonly #redact;
  readonly #restore;
  readonly #table: RecordTable;
  /** Null if the resource keeps no history. */
  readonly #changes: ChangeLog | null;
  readonly #hostNames;
  readonly #issues: SchemaIssues;
  readonly #attributes: AttributeWatch;
  readonly #projection: Projection;
  readonly #mergesDetails: boolean;

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly options: RecordWriterOptions,
  ) {
    this.#redact = createRedactor(mirror);
    this.#restore = createRestorer(mirror);
    this.#table = new RecordTable(mirror, resource);
    this.#changes = resource.history ? new ChangeLog(mirror, resource, options) : null;
    this.#hostNames = openHostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, options.reporter);
    this.#attributes = new AttributeWatch(resource, this.#issues.report);
    this.#projection = new Projection(mirror, tablesOf(resource), this.#issues.report);
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * Writes the records of a response.
   * @returns their IDs, in the same order
   * @throws UnexpectedResponse if an ID is missing or inexact; nothing is written then
   */
  write(records: readonly Json[], options: ResponseOptions): number[] {
    return this.#writeAll(records, options).ids;
  }

  /**
   * Writes the records of a response from a resource with dates, and skips older copies of the same record: those after the
   * first one with its ID, and those with an older date than the mirrored record.
   */
  writeNewest(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    return this.#writeAll(records, { ...options, newestOnly: true });
  }

  /** Marks records as removed and moves their rows. @param at ISO 8601 */
  remove(recordIds: Iterable<number>, at: string): void {
    let removed = 0;
    for (const id of recordIds) {
      const row = this.#table.get(id);
      if (!row || row.removed_at !== null) continue;
      this.#changes?.logRemoved(row, at);
      this.#table.markRemoved(id, at);
      this.#issues.startRecord(id, at);
      this.#projection.write(parseRecord(this.mirror, { ...row, since_at: at, removed_at: at }), false);
      removed += 1;
    }
    addWrittenRows(this.mirror, this.options.runId, { removed });
  }

  #writeAll(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    const { keyPrefix = "", newestOnly = false, position = 0 } = options;
    // Compute all keys first: nothing may be written if one of them is invalid.
    const keys = records.map((value, index) => keyPrefix + recordKey(this.resource, value, position + index));
    const hasDuplicates = newestOnly && new Set(keys).size < keys.length;
    const mirrored = this.#table.findByDates(records);
    let changed = 0;
    const added: number[] = [];
    const ids: number[] = [];
    const copies: SkippedCopy[] = [];
    for (const [index, sent] of records.entries()) {
      const key = keys[index] ?? "";
      if (hasDuplicates && keys.indexOf(key) < index) {
        copies.push({ id: this.#table.find(key)?.record_id ?? 0, value: sent });
        continue;
      }
      const record = this.#writeRecord(this.#redact(sent, this.resource.name), key, options, mirrored);
      if (record.effect === "older") {
        copies.push({ id: record.id, value: sent });
        continue;
      }
      ids.push(record.id);
      if (record.effect === "same") continue;
      if (record.effect === "added") added.push(record.id);
      if (record.effect === "changed") changed += 1;
      this.#writeRows(record, options);
    }
    addWrittenRows(this.mirror, this.options.runId, { added: added.length, changed });
    return { ids, added, copies, changed: added.length + changed };
  }

  /**
   * Writes a record without its rows.
   * @param mirrored the mirror's records within the dates of the response, by key: for most records no query is needed
   */
  #writeRecord(
    sent: Json,
    key: string,
    options: ResponseOptions,
    mirrored: Map<string, MirroredRecord>,
  ): WrittenRecord {
    const json = JSON.stringify(sent);
    const known = mirrored.get(key);
    if (known?.json === json) return { id: known.id, effect: "same", value: sent, sinceAt: options.readAt };
    // The response may contain a record twice.
    mirrored.delete(key);
    const added = this.#add(sent, json, key, options);
    if (added !== null) return { id: added, effect: "added", value: sent, sinceAt: options.readAt };
    const row = this.#table.find(key);
    if (!row) throw new Error(`record neither added nor found: ${this.resource.name} ${key}`);
    return this.#update(row, sent, json, options);
  }

  /** @returns the ID of the new record; null if there already is one with this key */
  #add(sent: Json, json: string, key: string, options: ResponseOptions): number | null {
    const { readAt } = options;
    const before = { list_json: null, detailed_at: null, outdated: 0, since_at: readAt } as const;
    const id = this.#table.add(key, this.#contentOf(before, json, json, options), sent);
    if (id !== null && !options.isOutsideRange) this.#changes?.logAdded(key, sent, readAt);
    return id;
  }

  #update(row: RecordRow, sent: Json, sentJson: string, options: ResponseOptions): WrittenRecord {
    const { isDetail = false, isOutsideRange = false, newestOnly = false, readAt, touch = false } = options;
    const id = row.record_id;
    const value = this.#mergesDetails && !isDetail ? mergeListItem(row, sent) : sent;
    const json = value === sent ? sentJson : JSON.stringify(value);
    const content = this.#contentOf(row, json, sentJson, options);
    if (newestOnly && isOlder(this.resource, sent, row))
      return { id, effect: "older", value, sinceAt: row.since_at };

    const before =
      row.json === json ? value : this.#restore(JSON.parse(row.json) as Json, value, this.resource.name);
    const isSame =
      row.removed_at === null && row.context === content.context && sameRecord(before, value, this.resource);
    if (!isSame && !isDetail && row.detailed_at !== null) content.outdated = 1;
    if (!isSame || touch) content.since_at = readAt;
    const result = { id, value, sinceAt: content.since_at };

    const isIdentical = isSame && !touch && row.json === json;
    if (!isIdentical || isDetail || content.list_json !== row.list_json)
      this.#table.replace(id, content, value);
    if (isSame) return { ...result, effect: isIdentical ? "same" : "rows" };
    if (isDetail && row.detailed_at === null) {
      // The first details complete a record: they are not a change of it.
      this.#changes?.logVersion(row, readAt);
      return { ...result, effect: "rows" };
    }
    this.#changes?.logChanged({ row, before, after: value, isDetail, isOutsideRange, at: readAt });
    return { ...result, effect: "changed" };
  }

  /** Returns the columns of a record after a response. @param before the previous columns */
  #contentOf(
    before: Omit<RecordContent, "json" | "context">,
    json: string,
    sentJson: string,
    { context, isDetail, readAt }: ResponseOptions,
  ): RecordContent {
    return {
      json,
      list_json: this.#mergesDetails && !isDetail ? sentJson : before.list_json,
      detailed_at: isDetail ? readAt : before.detailed_at,
      outdated: isDetail ? 0 : before.outdated,
      context: context ? JSON.stringify(context) : null,
      since_at: before.since_at,
    };
  }

  #writeRows({ effect, id, sinceAt, value }: WrittenRecord, { context = {}, readAt }: ResponseOptions): void {
    const isNew = effect === "added";
    const record = { recordId: id, value: asObject(value), context, sinceAt, removedAt: null };
    this.#issues.startRecord(id, readAt);
    if (!isNew) this.#issues.clear();
    if (effect !== "rows") this.#hostNames.addFrom(record.value, readAt);
    this.#attributes.check(record.value);
    this.#projection.write(record, isNew);
  }
}

/** True if a record is dated before the second of the mirrored version. */
function isOlder(resource: Resource, sent: Json, { dated_at, removed_at }: RecordRow): boolean {
  const date = recordDate(resource, sent);
  return date !== null && dated_at !== null && removed_at === null && date < startOfSecond(dated_at);
}

/**
 * Returns an item of the list completed with the members that only the record's details have. Members that an earlier item
 * had and this one lacks are dropped.
 */
function mergeListItem(row: RecordRow, sent: Json): Json {
  if (row.detailed_at === null) return sent;
  const earlierItem = row.list_json === null ? {} : asObject(JSON.parse(row.list_json));
  const members = Object.entries(asObject(JSON.parse(row.json)));
  const detailMembers = members.filter(([member]) => !Object.hasOwn(earlierItem, member));
  return { ...Object.fromEntries(detailMembers), ...asObject(sent) };
}
