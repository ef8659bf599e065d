import { isDeepStrictEqual } from "node:util";
import { BadRequest, NotFound, type UnexpectedResponse } from "../errors.js";
import type { Json } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { ApiClient } from "./client.js";
import { type ApiResponse, createUnexpectedResponseError, type Pagination } from "./response.js";

export interface Page {
  page: number;
  items: readonly Json[];
  pagination: Pagination;
  requestedAt: number;
}

/** See "Limits" in the API documentation. */
export const lastPage = 10_000;
export const maxPerPage = 100;

export function countPages(records: number): number {
  return Math.max(1, Math.ceil(records / maxPerPage));
}

/**
 * Reads a list page by page. If the list shrinks while it is being read, the iteration ends early without an error.
 * @throws UnexpectedResponse if the server returns the wrong page, repeats a full page, or refers to a page after the
 * last one
 */
export async function* readPages(
  api: Pick<ApiClient, "get">,
  path: string,
  query: QueryParameters,
  scope?: string,
): AsyncGenerator<Page, void> {
  let previousItems: readonly Json[] = [];
  for (let number = 1; ; number += 1) {
    const page = await requestPage(api, path, query, number, scope);
    if (!page) return;
    const { items, pagination } = page;
    if (items.length >= pagination.per_page && isDeepStrictEqual(items, previousItems))
      throw createPaginationError(path, `has the same items on pages ${number - 1} and ${number}`);
    previousItems = items;
    yield page;
    // An empty page ends the list, even if the response indicates more pages. The caller detects missing records by
    // comparing `total_items` with the number of records.
    if (items.length === 0 || number >= Math.min(pagination.total_pages, lastPage)) return;
  }
}

/** Requests a page. Returns null if the list has shrunk and the page no longer exists. */
async function requestPage(
  api: Pick<ApiClient, "get">,
  path: string,
  query: QueryParameters,
  number: number,
  scope: string | undefined,
): Promise<Page | null> {
  const get = async (page: number) => toPage(path, await api.get(path, { ...query, page }, scope));
  try {
    const page = await get(number);
    // For a page past the end, some servers return an empty page or the last page. Others return 400 or 404.
    if (number > 1 && page.pagination.total_pages < number) return null;
    if (page.page === number) return page;
    throw createPaginationError(path, `is page ${page.page}, but page ${number} was requested`);
  } catch (error) {
    if (number === 1 || !(error instanceof BadRequest || error instanceof NotFound)) throw error;
    const { pagination } = await get(1);
    if (pagination.total_pages < number) return null;
    if (error instanceof BadRequest) throw error;
    throw createPaginationError(path, `refers to page ${number}, which does not exist (${error.status})`);
  }
}

export function firstPage(path: string, response: ApiResponse): Page {
  const page = toPage(path, response);
  if (page.page !== 1) throw createPaginationError(path, `is page ${page.page}, but page 1 was requested`);
  return page;
}

function toPage(path: string, { items, pagination, requestedAt }: ApiResponse): Page {
  if (!items) throw createPaginationError(path, "is not a list");
  if (!pagination) throw createPaginationError(path, "has no `pagination`");
  if (pagination.has_next && pagination.page >= pagination.total_pages)
    throw createPaginationError(
      path,
      `claims that page ${pagination.page} of ${pagination.total_pages} has a next page`,
    );
  return { page: pagination.page, items, pagination, requestedAt };
}

function createPaginationError(path: string, problem: string): UnexpectedResponse {
  const hint = "run the command again; if it fails again, the API does not paginate as documented";
  return createUnexpectedResponseError(path, problem, hint);
}
