import type { ListName } from "../../src/sandbox/brand.js";
import type { ContentItem } from "../../src/sandbox/content-endpoints.js";
import type { Order } from "../../src/sandbox/orders-endpoint.js";
import type { RosterEntry } from "../../src/sandbox/roster-endpoint.js";
import type { UndocumentedRecord } from "../../src/sandbox/undocumented-endpoints.js";

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
/** The default start time of a test's clock. */
export const noon = Date.UTC(2026, 10, 21, 12);

export const listNames = [
  "orders",
  "roster",
  "recommendations",
  "opportunities",
  "content",
  "gifts",
  "codes",
  "surveys",
] as const satisfies readonly ListName[];

export function at(ms: number): string {
  return new Date(ms).toISOString();
}

const host = { id: "h1", username: "ada", first_name: "Ada", last_name: null, profile_photo: null };

/** @param fields the fields to replace or add, including undocumented fields */
export function orderAt(id: string, ms: number | string | null, fields: Record<string, unknown> = {}): Order {
  const order = {
    id,
    external_order_id: null,
    order_number: null,
    order_date: typeof ms === "number" ? at(ms) : ms,
    currency: "EUR",
    total_amount: 10,
    subtotal_amount: 8,
    refund_amount: 0,
    financial_status: "paid",
    fulfillment_status: null,
    is_cancelled: false,
    is_refunded: false,
    commission_rate: 10,
    commission_amount: 0.8,
    attribution: "tracked",
    host,
    product: null,
    gear_list: null,
    line_items: [],
    ...fields,
  };
  return order as unknown as Order;
}

/** Returns orders that are `apartMs` milliseconds apart, newest first. Each date is shared by `perInstant` orders. */
export function ordersBefore(ms: number, count: number, apartMs: number, perInstant = 1): Order[] {
  return Array.from({ length: count }, (_, n) => orderAt(`o${n}`, ms - Math.floor(n / perInstant) * apartMs));
}

export function fileAt(id: string, ms: number, fields: Record<string, unknown> = {}): ContentItem {
  const file = {
    id,
    source: "upload",
    media_type: "image",
    filename: `${id}.jpg`,
    mime_type: "image/jpeg",
    file_size_bytes: 2_000,
    created_at: at(ms),
    uploaded_by: "brand",
    host: null,
    opportunity: null,
    deliverable: null,
    download_path: `/content/${fields.source ?? "upload"}/${id}/download`,
    ...fields,
  };
  return file as unknown as ContentItem;
}

export function memberOf(id: string, fields: Record<string, unknown> = {}): RosterEntry {
  const profile = { ...host, id: `h-${id}`, title: null, intro: null, discipline: null };
  const entry = {
    relationship_id: id,
    host: { ...profile, specialty: null, location: null, socials: null },
    status: "active",
    commission_rate: 12,
    joined_at: at(noon - 100 * day),
    activated_at: null,
    campaigns: null,
    ...fields,
  };
  return entry as unknown as RosterEntry;
}

export function openRecord(id: string | number, fields: Record<string, unknown> = {}): UndocumentedRecord {
  return { id, ...fields };
}
