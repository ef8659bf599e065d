import type { SandboxRequest } from "../../src/sandbox/api.js";
import { type Brand, createBrand } from "../../src/sandbox/brand.js";
import { endpoints } from "../../src/sandbox/endpoints.js";
import { noon } from "../support/records.js";
import { type ApiVariants, createVariantApi } from "./api-variants.js";

export type Row = Record<string, unknown>;

const realistic = createBrand({ seed: 1, orders: 300, now: noon });

/**
 * A realistic brand. All tests share it, so they must not change it. It has only 30 people, which makes analytics
 * faster.
 */
export const history: Brand = { ...realistic, people: realistic.people.slice(0, 30) };

export interface SandboxResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  data: Row[];
  one: Row;
  pagination: { page: number; per_page: number; total_items: number; total_pages: number; has_next: boolean };
}

export interface RequestOptions {
  brand?: Brand;
  /** The name of the key to send, or null to send no key. */
  key?: string | null;
  variants?: Partial<ApiVariants>;
  now?: number;
  request?: Partial<SandboxRequest>;
}

export function ask(
  path: string,
  { brand = history, key = "all", variants, now = noon, request }: RequestOptions = {},
): SandboxResponse {
  const api = createVariantApi({ brands: [brand], now: () => now, variants });
  const secret = brand.keys.find(({ name }) => name === key)?.secret;
  const headers = key === null ? {} : { authorization: `Bearer ${secret ?? key}` };
  const url = path.startsWith("/api/") ? path : `/api/brand/v1${path}`;
  const response = api.handle({ method: "GET", url, address: "127.0.0.1", headers, ...request });
  const json = JSON.parse(response.body) as { data?: unknown; pagination: SandboxResponse["pagination"] };
  const data = (json.data ?? []) as Row[];
  return { ...response, text: response.body, data, one: data as unknown as Row, pagination: json.pagination };
}

export function askAll(path: string, options: RequestOptions = {}, perPage = 100): Row[] {
  const rows: Row[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = ask(
      `${path}${path.includes("?") ? "&" : "?"}page=${page}&per_page=${perPage}`,
      options,
    );
    rows.push(...data);
    if (!pagination.has_next) return rows;
  }
}

const pathsWithIds: Readonly<Record<string, string | undefined>> = {
  "/opportunities/{id}": `/opportunities/${history.opportunities[0]?.id}`,
  "/content/{source}/{item_id}/download": history.content[0]?.download_path,
  "/surveys/{id}/results": `/surveys/${history.surveys[0]?.id}/results`,
};

export const paths: readonly (readonly [path: string, scope: string | null])[] = endpoints.map(
  ({ path, scope }) => [pathsWithIds[path] ?? path, scope],
);
