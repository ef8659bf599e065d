/**
 * The records of a brand, in the very shape in which the API serves them. They are never changed in place: a
 * happening puts another record, and another array, where the old one was.
 */
type Open = { [member: string]: unknown };

export type Host = {
  id: string;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  profile_photo: string | null;
};

export type HostProfile = Host & {
  title: string | null;
  intro: string | null;
  discipline: string | null;
  specialty: string | null;
  location: string | null;
  socials: Record<string, string> | null;
};

export type LineItem = {
  title: string | null;
  variant_title: string | null;
  sku: string | null;
  quantity: number | null;
  price: number | null;
};

export type Order = Open & {
  id: string;
  external_order_id: string | null;
  order_number: string | null;
  order_date: string;
  currency: string | null;
  total_amount: number | null;
  subtotal_amount: number | null;
  refund_amount: number | null;
  financial_status: string | null;
  fulfillment_status: string | null;
  is_cancelled: boolean;
  is_refunded: boolean;
  commission_rate: number;
  commission_amount: number | null;
  attribution: string;
  host: Host | null;
  product: { id: string; title: string; cover_photo: string | null } | null;
  gear_list: { id: string; title: string } | null;
  line_items: LineItem[];
};

export type Assignment = Open & {
  id: string;
  status: string;
  brand_payment_state: string | null;
  athlete_payment_state: string | null;
  accepted_at: string | null;
  declined_at: string | null;
  completed_at: string | null;
  created_at: string;
  updated_at: string;
  host: Host | null;
};

export type Deliverable = {
  id: string;
  title: string;
  description: string | null;
  due_date: string | null;
  completed_at: string | null;
};

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

export type ContentItem = Open & {
  id: string;
  source: string;
  media_type: string;
  filename: string | null;
  mime_type: string | null;
  file_size_bytes: number | null;
  created_at: string;
  uploaded_by: string;
  host: { id: string; username: string | null; name: string | null } | null;
  opportunity: {
    id: string;
    title: string;
    assignment_id: string | null;
    assignment_status: string | null;
  } | null;
  deliverable: { id: string; title: string; due_date: string | null } | null;
  download_path: string;
};

export type RosterEntry = Open & {
  relationship_id: string;
  host: HostProfile;
  status: string;
  commission_rate: number;
  joined_at: string;
  activated_at: string | null;
  campaigns: { status: string; invited: number; active: number; completed: number; declined: number } | null;
};

export type Recommendation = Open & {
  host: HostProfile & { motto: string | null };
  product_count: number;
  products: { id: string; title: string; [member: string]: unknown }[];
};

/** A gift, a code or a survey: the document shows none of their fields, so all are the sandbox's own. */
export type OpenRecord = Open & { id: string | number };
