import type { Product } from "./data/order-data.js";
import type { Person } from "./data/people-data.js";
import type { ApiKey } from "./keys.js";

/**
 * The records of a brand, in the very shape in which the API serves them: declared is what the sandbox itself reads. They
 * are never changed in place: a happening puts another record, and another array, where the old one was.
 */
type Open = { [member: string]: unknown };
/** Texts that may be null. */
type Texts<Names extends string> = Record<Names, string | null>;

export type Host = { id: string } & Texts<"username" | "first_name" | "last_name" | "profile_photo">;

/** A host of the roster and of recommendations: with a bio, links, a location. */
export type HostProfile = Host & Open;

export type Order = Open &
  Texts<"currency" | "order_number" | "financial_status"> &
  Record<"total_amount" | "subtotal_amount" | "refund_amount" | "commission_amount", number | null> & {
    id: string;
    order_date: string;
    is_cancelled: boolean;
    is_refunded: boolean;
    commission_rate: number;
    attribution: string;
    host: Host | null;
  };

export type Assignment = Open & {
  id: string;
  status: string;
  brand_payment_state: string | null;
  host: Host | null;
};

/** An opportunity in the detail's shape: the list leaves out `deliverables` and `assignments`. */
export type Campaign = Open & {
  id: string;
  title: string;
  status: string;
  assignment_counts: Record<string, number>;
  created_at: string;
  updated_at: string;
  deliverables: { id: string; title: string; due_date: string | null; [member: string]: unknown }[];
  assignments: Assignment[];
};

export type ContentItem = Open &
  Record<"id" | "source" | "media_type" | "created_at" | "download_path", string> &
  Texts<"filename" | "mime_type"> & {
    file_size_bytes: number | null;
    host: ({ id: string } & Texts<"username" | "name">) | null;
    opportunity: ({ id: string; title: string } & Texts<"assignment_id" | "assignment_status">) | null;
  };

export type RosterEntry = Open & {
  relationship_id: string;
  host: HostProfile;
  commission_rate: number;
  joined_at: string;
  campaigns: ({ status: string } & Record<"invited" | "active" | "completed" | "declined", number>) | null;
};

export type Recommendation = Open & { host: HostProfile; products: { id: string; title: string }[] };

/** A gift, a code or a survey: the document shows none of their fields, so all are the sandbox's own. */
export type OpenRecord = Open & { id: string | number };

/** The lists of a brand; in each, the record that came last stands first. */
export interface Lists {
  orders: readonly Order[];
  roster: readonly RosterEntry[];
  recommendations: readonly Recommendation[];
  opportunities: readonly Campaign[];
  content: readonly ContentItem[];
  gifts: readonly OpenRecord[];
  codes: readonly OpenRecord[];
  surveys: readonly OpenRecord[];
}

export type ListName = keyof Lists;

/** A brand as the API knows it: its records as they are served, and the material of new ones. */
export interface Brand extends Lists {
  seed: number;
  id: string;
  name: string;
  keys: readonly ApiKey[];
  /** The hosts that the brand has met, on the roster or not: traffic and new records come from them. */
  people: readonly Person[];
  products: readonly Product[];
  /** Results by survey id. */
  results: Readonly<Record<string, unknown>>;
  /** How many happenings there were: a number for what comes next. */
  nextNumber: number;
}

/** The rate, percentage, if none was agreed with a host. */
export const defaultRate = 12;

/** The material of new records. */
export type BrandMaterial = Pick<Brand, "seed" | "people" | "products" | "opportunities">;

/** Returns a brand without a record and without hosts. */
export function emptyBrand(keys: readonly ApiKey[] = [], seed = 1): Brand {
  return {
    seed,
    id: "b0000000-0000-4000-8000-000000000001",
    name: "Fjell & Fern",
    keys,
    people: [],
    products: [],
    orders: [],
    roster: [],
    recommendations: [],
    opportunities: [],
    content: [],
    gifts: [],
    codes: [],
    surveys: [],
    results: {},
    nextNumber: 0,
  };
}

export const second = 1_000;
export const hour = 3_600 * second;
export const day = 24 * hour;

/** Returns a timestamp with milliseconds, in UTC. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns a date, `YYYY-MM-DD`, in UTC. */
export function dateText(ms: number): string {
  return timeText(ms).slice(0, 10);
}

/** Returns the microseconds since 1970 of a timestamp (dates can be finer than milliseconds); NaN without one. */
export function parseInstant(text: unknown): number {
  if (typeof text !== "string") return Number.NaN;
  const finer = text.length > 24 ? (/\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "") : "";
  return Date.parse(text) * 1_000 + Number(finer.padEnd(3, "0"));
}
