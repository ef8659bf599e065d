import { UnexpectedAnswer } from "../errors.js";
import type { Json, JsonObject } from "../resources/types.js";

export const checkBase = "check that the base URL is the brand API's and ends in /api/brand/v1";

/** Returns the error for an answer that is JSON, but not of the documented shape. */
export function unexpected(path: string, what: string, hint = checkBase): UnexpectedAnswer {
  return new UnexpectedAnswer(`The API's answer to ${path} ${what}.`, { status: 200, hint });
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Describes a member without printing text that the server chose. */
export function named(object: JsonObject, member: string): string {
  const value = Object.hasOwn(object, member) ? object[member] : undefined;
  return value === undefined ? `no \`${member}\`` : `${kind(value)} as \`${member}\``;
}

/** Names a value, or its type if the server chose its text. */
export function kind(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? "text" : "an object";
}
