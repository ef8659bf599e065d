import { UnexpectedAnswer } from "../errors.js";
import { counted } from "../lib/counted.js";
import { isObject, type Json, type JsonObject } from "../resources/types.js";

/** The `pagination` of a list (API document, "Pagination object"). */
export interface Pagination {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

const mostItems = 1e9;
export const checkBase = "check that the base URL is the brand API's and ends in /api/brand/v1";

/** Returns an envelope's `pagination`, or null if it has none. @throws UnexpectedAnswer if it is not as documented */
export function readPagination(value: Json | undefined, path: string): Pagination | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw unexpected(path, "has a `pagination` that is not an object");
  const pagination: Pagination = {
    page: whole(value, "page", 1, path),
    per_page: whole(value, "per_page", 1, path),
    total_items: whole(value, "total_items", 0, path),
    total_pages: whole(value, "total_pages", 0, path),
    has_next: flag(value, "has_next", path),
    has_prev: flag(value, "has_prev", path),
  };
  const { total_items, total_pages, per_page } = pagination;
  if (total_items > mostItems || Math.abs(total_pages - Math.ceil(total_items / per_page)) > 1) {
    const claim = `${counted(total_pages, "page")} for ${counted(total_items, "item")} at ${per_page} a page`;
    throw unexpected(path, `cannot be true: ${claim}`);
  }
  return pagination;
}

function whole(pagination: JsonObject, member: string, least: number, path: string): number {
  const value = pagination[member];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw unexpected(path, `has no whole number as \`${member}\` in its \`pagination\``);
}

function flag(pagination: JsonObject, member: string, path: string): boolean {
  const value = pagination[member];
  if (typeof value === "boolean") return value;
  throw unexpected(path, `has neither true nor false as \`${member}\` in its \`pagination\``);
}

/** Returns the error for an answer that is JSON, but not of the documented shape. It quotes no text of the server's. */
export function unexpected(path: string, what: string, hint = checkBase): UnexpectedAnswer {
  return new UnexpectedAnswer(`The API's answer to ${path} ${what}.`, { status: 200, hint });
}
