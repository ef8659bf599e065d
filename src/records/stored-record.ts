import type { JsonObject } from "../resources/types.js";
import { asObject } from "./values.js";

/** A record with what the mirror knows about it: all that its rows are made of. */
export interface StoredRecord {
  recordId: number;
  json: string;
  /** See `ApiRecord`. */
  plain?: boolean | undefined;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

/** A record as the mirror holds it, or held it. */
export interface StoredRow {
  record_id: number;
  json: string;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

export function storedRecord(row: StoredRow): StoredRecord {
  return {
    recordId: row.record_id,
    json: row.json,
    value: asObject(JSON.parse(row.json)),
    context: row.context === null ? {} : asObject(JSON.parse(row.context)),
    sinceAt: row.since_at,
    removedAt: row.removed_at,
  };
}
