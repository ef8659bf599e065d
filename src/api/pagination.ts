import { isDeepStrictEqual } from "node:util";
import { NotFound, RequestRefused, UnexpectedResponse } from "../errors.js";
import { isObject, type Json, type JsonObject, type QueryParameters } from "../util/json-value.js";
import { pluralize } from "../util/text.js";
import type { ApiClient } from "./client.js";
import type { ApiResponse } from "./response.js";

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
export const checkBaseUrl = "check that the base URL is the brand API's and ends in /api/brand/v1";

/** Returns an envelope's `pagination`, or null if it has none. @throws UnexpectedResponse if it is not as documented */
export function readPagination(value: Json | undefined, path: string): Pagination | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw unexpectedResponse(path, "has a `pagination` that is not an object");
  const pagination: Pagination = {
    page: readInteger(value, "page", 1, path),
    per_page: readInteger(value, "per_page", 1, path),
    total_items: readInteger(value, "total_items", 0, path),
    total_pages: readInteger(value, "total_pages", 0, path),
    has_next: readBoolean(value, "has_next", path),
    has_prev: readBoolean(value, "has_prev", path),
  };
  const { total_items, total_pages, per_page } = pagination;
  if (total_items > mostItems || Math.abs(total_pages - Math.ceil(total_items / per_page)) > 1) {
    const claim = `${pluralize(total_pages, "page")} for ${pluralize(total_items, "item")} at ${per_page} a page`;
    throw unexpectedResponse(path, `cannot be true: ${claim}`);
  }
  return pagination;
}

function readInteger(pagination: JsonObject, member: string, least: number, path: string): number {
  const value = pagination[member];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw unexpectedResponse(path, `has no whole number as \`${member}\` in its \`pagination\``);
}

function readBoolean(pagination: JsonObject, member: string, path: string): boolean {
  const value = pagination[member];
  if (typeof value === "boolean") return value;
  throw unexpectedResponse(path, `has neither true nor false as \`${member}\` in its \`pagination\``);
}

/** Returns the error for an answer that is JSON, but not of the documented shape. It quotes no text of the server's. */
export function unexpectedResponse(path: string, what: string, hint = checkBaseUrl): UnexpectedResponse {
  return new UnexpectedResponse(`The API's answer to ${path} ${what}.`, { status: 200, hint });
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
 * @throws UnexpectedResponse if the pages cannot be a list: the wrong page, a full page twice, a next page after the last
 */
export async function* readPages(
  api: Pick<ApiClient, "get">,
  path: string,
  query: QueryParameters,
  scope?: string,
): AsyncGenerator<Page, void> {
  const ask = (page: number) => {
    const asked = fetchPage(api, path, { ...query, page }, page, scope);
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
      throw paginationError(path, `repeats page ${page.page - 1} as page ${page.page}`);
    before = items;
    // An empty page is the end, even if more are announced: the count shows that something is missing.
    const last = items.length === 0 ? 0 : Math.min(pagination.total_pages, lastPage);
    if (page.page < last) asked = ask(page.page + 1);
    yield page;
    if (page.page >= last) return;
  }
}

/** Returns a page of a list; null if the list is too short by now to have it. */
async function fetchPage(
  api: Pick<ApiClient, "get">,
  path: string,
  query: QueryParameters,
  number: number,
  scope: string | undefined,
): Promise<Page | null> {
  try {
    const page = toPage(path, await api.get(path, query, scope));
    // Some servers answer with nothing, or with their last page, when asked beyond it.
    if (number > 1 && page.pagination.total_pages < number) return null;
    if (page.page === number) return page;
    throw paginationError(path, `is page ${page.page} where page ${number} was asked for`);
  } catch (error) {
    const isRefusal = error instanceof RequestRefused || error instanceof NotFound;
    if (number === 1 || !isRefusal) throw error;
    // Other servers refuse to be asked beyond the last page.
    const first = toPage(path, await api.get(path, { ...query, page: 1 }, scope));
    if (first.pagination.total_pages < number) return null;
    if (!(error instanceof NotFound)) throw error;
    throw paginationError(path, `announces page ${number}, and nothing is there (${error.status})`);
  }
}

/** Returns an answer as page 1 of a list. @throws UnexpectedResponse if it is not one */
export function firstPage(path: string, answer: ApiResponse): Page {
  const first = toPage(path, answer);
  if (first.page !== 1) throw paginationError(path, `is page ${first.page} where page 1 was asked for`);
  return first;
}

function toPage(path: string, { items, pagination, requestedAt }: ApiResponse): Page {
  if (!items) throw paginationError(path, "is not a list");
  if (!pagination) throw paginationError(path, "has no `pagination`");
  if (pagination.has_next && pagination.page >= pagination.total_pages)
    throw paginationError(
      path,
      `says that page ${pagination.page} of ${pagination.total_pages} has a next one`,
    );
  return { page: pagination.page, items, pagination, requestedAt };
}

function paginationError(path: string, what: string): UnexpectedResponse {
  return unexpectedResponse(
    path,
    what,
    "run the command again; if it stays so, the API does not page as documented",
  );
}
