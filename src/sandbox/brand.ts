type UnreadFields = { [member: string]: unknown };
type NullableStrings<Names extends string> = Record<Names, string | null>;

/**
 * Records look like the API's responses, but the types declare only the fields that the sandbox reads. Records and
 * lists are immutable: an event replaces the record and the array that contains it.
 */

export type Host = { id: string } & NullableStrings<
  "username" | "first_name" | "last_name" | "profile_photo"
>;

export type HostProfile = Host & UnreadFields;

export type Order = UnreadFields &
  NullableStrings<"currency" | "order_number" | "financial_status"> &
  Record<"total_amount" | "subtotal_amount" | "refund_amount" | "commission_amount", number | null> & {
    id: string;
    order_date: string;
    is_cancelled: boolean;
    is_refunded: boolean;
    commission_rate: number;
    attribution: string;
    host: Host | null;
  };

export type Assignment = UnreadFields & {
  id: string;
  status: string;
  brand_payment_state: string | null;
  host: Host | null;
};

/** An opportunity with its details. `GET /opportunities` omits `deliverables` and `assignments`. */
export type Campaign = UnreadFields & {
  id: string;
  title: string;
  status: string;
  assignment_counts: Record<string, number>;
  created_at: string;
  updated_at: string;
  deliverables: { id: string; title: string; due_date: string | null; [member: string]: unknown }[];
  assignments: Assignment[];
};

export type ContentItem = UnreadFields &
  Record<"id" | "source" | "media_type" | "created_at" | "download_path", string> &
  NullableStrings<"filename" | "mime_type"> & {
    file_size_bytes: number | null;
    host: ({ id: string } & NullableStrings<"username" | "name">) | null;
    opportunity:
      | ({ id: string; title: string } & NullableStrings<"assignment_id" | "assignment_status">)
      | null;
  };

export type RosterEntry = UnreadFields & {
  relationship_id: string;
  host: HostProfile;
  commission_rate: number;
  joined_at: string;
  campaigns: ({ status: string } & Record<"invited" | "active" | "completed" | "declined", number>) | null;
};

export type Recommendation = UnreadFields & { host: HostProfile; products: { id: string; title: string }[] };

/** A gift, code or survey. The API documentation does not describe the fields, so the sandbox invents them. */
export type OpenRecord = UnreadFields & { id: string | number };

/** A brand's lists. The most recently added record comes first. */
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

export interface Person {
  profile: HostProfile;
  motto: string | null;
  /** The agreed commission rate in percent, or null if the default applies. */
  rate: number | null;
  weight: number;
}

export interface Product {
  id: string;
  title: string;
  coverPhoto: string | null;
  sku: string;
  /** The unit price in hundredths of the order's currency. */
  cents: number;
  variants: readonly (string | null)[];
  weight: number;
}

export interface ApiKey {
  name: string;
  secret: string;
  /** A short description, shown when the sandbox starts. */
  note: string;
  id: string;
  scopes: readonly string[];
  expiresAt: number;
  revoked: boolean;
  allowlist: readonly string[] | null;
  hasAnalyticsPlan: boolean;
}

export interface Brand extends Lists {
  seed: number;
  id: string;
  name: string;
  keys: readonly ApiKey[];
  people: readonly Person[];
  products: readonly Product[];
  results: Readonly<Record<string, unknown>>;
  nextNumber: number;
}

export type BrandMaterial = Pick<Brand, "seed" | "people" | "products" | "opportunities">;

export const defaultRate = 12;

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

/**
 * Parses a timestamp into microseconds, because API dates can be more precise than milliseconds. Returns NaN if the
 * value is not a timestamp.
 */
export function toMicroseconds(text: unknown): number {
  if (typeof text !== "string") return Number.NaN;
  const microseconds = text.length > 24 ? (/\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "") : "";
  return Date.parse(text) * 1_000 + Number(microseconds.padEnd(3, "0"));
}
