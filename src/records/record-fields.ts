import type { Json, JsonObject, Resource } from "../resources/types.js";
import { parseTimestamp } from "../times.js";

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

/** An object as it is, and one without members for anything else. */
export function asObject(value: Json): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
