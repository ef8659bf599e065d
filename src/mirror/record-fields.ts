import { UnexpectedAnswer } from "../errors.js";
import { Exact, hasInexactNumbers, parseExact } from "../exact.js";
import type { ApiRecord, JsonObject, Resource } from "../resources/types.js";
import { parseTimestamp } from "../times.js";
import { valueAt } from "./values.js";

/**
 * A record's key in the mirror.
 * @throws UnexpectedAnswer when a documented record lacks its id
 */
export function keyOf(resource: Resource, record: ApiRecord, position: number): string {
  const parts = resource.key.map((path) => keyPart(record, path.split(".")));
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts.join("/");
  if (resource.key.length > 0 && resource.pagination === "documented")
    throw new UnexpectedAnswer(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the API answered with something that is not its documented shape: report it to the platform",
    });
  return `#${position}`;
}

function keyPart(record: ApiRecord, path: readonly string[]): string | undefined {
  const value = valueAt(record.value, path);
  if (typeof value === "string") return value;
  if (typeof value !== "number") return undefined;
  const exact = hasInexactNumbers(record.json) ? valueAt(parseExact(record.json), path) : undefined;
  return exact instanceof Exact ? exact.literal : String(value);
}

/** The instant that ranges go by, in milliseconds; null where the resource has none or it cannot be read. */
export function datedAt(resource: Resource, value: JsonObject): number | null {
  const { strategy } = resource;
  if (strategy.kind !== "window" && strategy.kind !== "increment") return null;
  const text = value[strategy.date];
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** A bit for each filter that the API would select this record by. */
export function flagsOf({ strategy }: Resource, value: JsonObject): number {
  if (strategy.kind !== "window") return 0;
  return strategy.counts.reduce(
    (flags, { member }, bit) => (value[member] === true ? flags | (1 << bit) : flags),
    0,
  );
}

export function asObject(value: ApiRecord["value"]): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
