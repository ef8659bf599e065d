/**
 * The records of a brand, in the very shape in which the API serves them. They are never changed in place: a
 * happening puts another record, and another array, where the old one was.
 */
type Open = { [member: string]: unknown };
/** Texts that may be null. */
type Texts<Names extends string> = Record<Names, string | null>;
type Numbers<Names extends string> = Record<Names, number | null>;

export type Host = { id: string } & Texts<"username" | "first_name" | "last_name" | "profile_photo">;

export type HostProfile = Host &
  Texts<"title" | "intro" | "discipline" | "specialty" | "location"> & {
    socials: Record<string, string> | null;
  };

export type LineItem = Texts<"title" | "variant_title" | "sku"> & Numbers<"quantity" | "price">;

export type Order = Open &
  Texts<"external_order_id" | "order_number" | "currency" | "financial_status" | "fulfillment_status"> &
  Numbers<"total_amount" | "subtotal_amount" | "refund_amount" | "commission_amount"> & {
    id: string;
    order_date: string;
    is_cancelled: boolean;
    is_refunded: boolean;
    commission_rate: number;
    attribution: string;
    host: Host | null;
    product: { id: string; title: string; cover_photo: string | null } | null;
    gear_list: { id: string; title: string } | null;
    line_items: LineItem[];
  };

export type Assignment = Open &
  Texts<"brand_payment_state" | "athlete_payment_state" | "accepted_at" | "declined_at" | "completed_at"> & {
    id: string;
    status: string;
    created_at: string;
    updated_at: string;
    host: Host | null;
  };

export type Deliverable = { id: string; title: string } & Texts<"description" | "due_date" | "completed_at">;

/** An opportunity in the detail's shape: the list leaves out `deliverables` and `assignments`. */
export type Campaign = Open & {
  id: string;
  title: string;
  status: string;
  assignment_counts: Record<string, number>;
  created_at: string;
  updated_at: string;
  deliverables: Deliverable[];
  assignments: Assignment[];
};

export type ContentItem = Open &
  Record<"id" | "source" | "media_type" | "created_at" | "uploaded_by" | "download_path", string> &
  Texts<"filename" | "mime_type"> & {
    file_size_bytes: number | null;
    host: ({ id: string } & Texts<"username" | "name">) | null;
    opportunity: ({ id: string; title: string } & Texts<"assignment_id" | "assignment_status">) | null;
    deliverable: { id: string; title: string; due_date: string | null } | null;
  };

export type RosterEntry = Open & {
  relationship_id: string;
  host: HostProfile;
  status: string;
  commission_rate: number;
  joined_at: string;
  activated_at: string | null;
  campaigns: ({ status: string } & Record<"invited" | "active" | "completed" | "declined", number>) | null;
};

export type Recommendation = Open & {
  host: HostProfile & { motto: string | null };
  product_count: number;
  products: { id: string; title: string; [member: string]: unknown }[];
};

/** A gift, a code or a survey: the document shows none of their fields, so all are the sandbox's own. */
export type OpenRecord = Open & { id: string | number };
