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
