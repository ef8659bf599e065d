import { isDeepStrictEqual } from "node:util";
import { NotFound, RequestRefused, UnexpectedAnswer } from "../errors.js";
import { isObject, type Json, type JsonObject, type Query } from "../resources/resource.js";
import { counted } from "../util/text.js";
import type { ApiClient } from "./client.js";
import type { Answer } from "./response.js";

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

export interface Page {
  page: number;
  items: readonly Json[];
  pagination: Pagination;
  /** As in Answer. */
  requestedAt: number;
}

/** The API document, Limits: pages beyond this one cannot be asked for. */
export const lastPage = 10_000;

/**
 * Reads a list page by page, in order, one request at a time; the next one is on its way while the caller handles a page.
 * Asks for no page that the answer before did not announce: a list that shrinks meanwhile just ends.
 * @throws UnexpectedAnswer if the pages cannot be a list: the wrong page, a full page twice, a next page after the last
 */
export async function* readPages(
  api: Pick<ApiClient, "get">,
  path: string,
  query: Query,
  scope?: string,
): AsyncGenerator<Page, void> {
  const ask = (page: number) => {
    const asked = askPage(api, path, { ...query, page }, page, scope);
    // A failure is thrown when the page is taken.
    asked.catch(() => {});
    return asked;
  };
  let asked = ask(1);
  let before: readonly Json[] = [];
  for (;;) {
    const page = await asked;
    if (!page) return;
    const { items, pagination } = page;
    if (items.length >= pagination.per_page && isDeepStrictEqual(items, before))
      throw notPaged(path, `repeats page ${page.page - 1} as page ${page.page}`);
    before = items;
    // An empty page is the end, even if more are announced: the count shows that something is missing.
    const last = items.length === 0 ? 0 : Math.min(pagination.total_pages, lastPage);
    if (page.page < last) asked = ask(page.page + 1);
    yield page;
    if (page.page >= last) return;
  }
}

/** Returns a page of a list; null if the list is too short by now to have it. */
async function askPage(
  api: Pick<ApiClient, "get">,
  path: string,
  query: Query,
  number: number,
  scope: string | undefined,
): Promise<Page | null> {
  try {
    const page = pageOf(path, await api.get(path, query, scope));
    // Some servers answer with nothing, or with their last page, when asked beyond it.
    if (number > 1 && page.pagination.total_pages < number) return null;
    if (page.page === number) return page;
    throw notPaged(path, `is page ${page.page} where page ${number} was asked for`);
  } catch (error) {
    const isRefusal = error instanceof RequestRefused || error instanceof NotFound;
    if (number === 1 || !isRefusal) throw error;
    // Other servers refuse to be asked beyond the last page.
    const first = pageOf(path, await api.get(path, { ...query, page: 1 }, scope));
    if (first.pagination.total_pages < number) return null;
    if (!(error instanceof NotFound)) throw error;
    throw notPaged(path, `announces page ${number}, and nothing is there (${error.status})`);
  }
}

/** Returns an answer as page 1 of a list. @throws UnexpectedAnswer if it is not one */
export function firstPage(path: string, answer: Answer): Page {
  const first = pageOf(path, answer);
  if (first.page !== 1) throw notPaged(path, `is page ${first.page} where page 1 was asked for`);
  return first;
}

function pageOf(path: string, { items, pagination, requestedAt }: Answer): Page {
  if (!items) throw notPaged(path, "is not a list");
  if (!pagination) throw notPaged(path, "has no `pagination`");
  if (pagination.has_next && pagination.page >= pagination.total_pages)
    throw notPaged(path, `says that page ${pagination.page} of ${pagination.total_pages} has a next one`);
  return { page: pagination.page, items, pagination, requestedAt };
}

function notPaged(path: string, what: string): UnexpectedAnswer {
  return unexpected(path, what, "run the command again; if it stays so, the API does not page as documented");
}
