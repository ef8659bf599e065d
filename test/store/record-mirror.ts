import type { Resource } from "../../src/resources/resource.js";
import type { Mirror } from "../../src/store/database.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import type { Json, JsonObject } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";

/**
 * Writes records with the given read time.
 * @returns the printed notes and warnings
 */
export function write(
  mirror: Mirror,
  resource: Resource,
  records: readonly Json[],
  {
    requestedAt = Date.parse("2026-11-01"),
    parameters,
  }: { requestedAt?: number; parameters?: JsonObject } = {},
): string[] {
  const messages: string[] = [];
  const note = (text: string) => void messages.push(text);
  const writer = new RecordWriter(mirror, resource, {
    runId: 1,
    reporter: { note, warn: note },
  });
  mirror.db.transaction(() => writer.write(records, { requestedAt, ...(parameters && { parameters }) }))();
  return messages;
}

/** Returns options for a `RecordWriter` that records no run and prints no messages. */
export function unrecordedRun(runId: number) {
  return { runId, reporter: silentReporter };
}

/** Returns an order with the given fields, and default values for all other fields. */
export function order(id: string, rest: JsonObject = {}): JsonObject {
  return {
    id,
    order_date: "2026-10-01T10:00:00Z",
    currency: "EUR",
    total_amount: 10,
    is_cancelled: false,
    is_refunded: false,
    host: { id: "h1", username: "ada", first_name: null, last_name: null, profile_photo: null },
    line_items: [{ title: "Sock", variant_title: null, sku: "S-1", quantity: 2, price: 5 }],
    ...rest,
  };
}

export function rows<Row>(mirror: Mirror, sql: string, ...parameters: unknown[]): Row[] {
  return mirror.db.prepare(sql).all(...parameters) as Row[];
}
