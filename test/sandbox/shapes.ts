/** A type in the API documentation's notation: `T?` is nullable, and `[x]` is an array. */
export type Shape =
  | string
  | { [name: string]: Shape }
  | [Shape]
  | { nullable: Shape }
  | { keys: string; of: Shape };

const host = {
  id: "uuid",
  username: "string?",
  first_name: "string?",
  last_name: "string?",
  profile_photo: "string?",
};
const profile = {
  ...host,
  title: "string?",
  intro: "string?",
  discipline: "string?",
  specialty: "string?",
  location: "string?",
  socials: {
    nullable: { keys: "instagram|tiktok|youtube|strava|website|twitter|facebook|linkedin", of: "string" },
  },
};
const opportunity = {
  id: "uuid",
  title: "string",
  description: "string?",
  project_details: "string?",
  status: "DRAFT|READY|PROPOSED|ACTIVE|COMPLETED|DECLINED|ARCHIVED",
  listing_type: "string?",
  deadline: "date?",
  application_deadline: "date?",
  target_url: "string?",
  payment: { nullable: { keys: "flatFee|commission|bonuses|terms|totalPotential", of: "any" } },
  commission_rate: "number?",
  content_types: ["string"] as [Shape],
  category: ["string"] as [Shape],
  attachments: [
    { url: "string?", filename: "string?", mime_type: "string?", file_size_bytes: "integer?" },
  ] as [Shape],
  assignment_counts: { keys: "DRAFT|READY|PROPOSED|ACTIVE|COMPLETED|DECLINED", of: "positive" },
  created_at: "timestamp",
  updated_at: "timestamp",
};

/** See "Resources and their fields" in the API documentation. */
export const shapes: Record<string, Shape> = {
  orders: {
    id: "string",
    external_order_id: "string?",
    order_number: "string?",
    order_date: "timestamp",
    currency: "USD|EUR|GBP?",
    total_amount: "number?",
    subtotal_amount: "number?",
    refund_amount: "number?",
    financial_status: "string?",
    fulfillment_status: "string?",
    is_cancelled: "boolean",
    is_refunded: "boolean",
    commission_rate: "number",
    commission_amount: "number?",
    attribution: "tracked|manual",
    host: { nullable: host },
    product: { nullable: { id: "string", title: "string", cover_photo: "string?" } },
    gear_list: { nullable: { id: "string", title: "string" } },
    line_items: [
      { title: "string?", variant_title: "string?", sku: "string?", quantity: "integer?", price: "number?" },
    ],
  },
  roster: {
    relationship_id: "uuid",
    host: profile,
    status: "active",
    commission_rate: "number",
    joined_at: "timestamp",
    activated_at: "timestamp?",
    campaigns: {
      nullable: {
        status: "active|invited|completed|none",
        invited: "integer",
        active: "integer",
        completed: "integer",
        declined: "integer",
      },
    },
  },
  recommendations: {
    host: { ...profile, motto: "string?" },
    product_count: "integer",
    products: [{ id: "string", title: "string", note: "string?", url: "string" }],
  },
  opportunities: opportunity,
  "opportunity-details": {
    ...opportunity,
    deliverables: [
      {
        id: "string",
        title: "string",
        description: "string?",
        due_date: "date?",
        completed_at: "timestamp?",
      },
    ],
    assignments: [
      {
        id: "string",
        status: "DRAFT|READY|PROPOSED|ACTIVE|COMPLETED|DECLINED",
        brand_payment_state: "NOT_INVOICED|INVOICED|PAYMENT_PENDING|PAID|FAILED|REFUNDED?",
        athlete_payment_state: "NOT_EARNED|EARNED|SCHEDULED_FOR_PAYOUT|PAID|ON_HOLD|FAILED?",
        accepted_at: "timestamp?",
        declined_at: "timestamp?",
        completed_at: "timestamp?",
        created_at: "timestamp",
        updated_at: "timestamp",
        host: { nullable: host },
      },
    ],
  },
  content: {
    id: "uuid",
    source: "deliverable|upload",
    media_type: "image|video|audio|document|other",
    filename: "string?",
    mime_type: "string?",
    file_size_bytes: "integer?",
    created_at: "timestamp",
    uploaded_by: "host|brand|peer_brand",
    host: { nullable: { id: "uuid", username: "string?", name: "string?" } },
    opportunity: {
      nullable: { id: "string", title: "string", assignment_id: "string?", assignment_status: "string?" },
    },
    deliverable: { nullable: { id: "string", title: "string", due_date: "date?" } },
    download_path: "string",
  },
  "analytics-hosts": {
    host: { nullable: host },
    clicks: "integer",
    buy_now_clicks: "integer",
    orders: "integer",
    sales: "number",
  },
};

const hostFigures = {
  total_clicks: "integer",
  product_clicks: "integer",
  buy_now_clicks: "integer",
  unique_buy_now_clicks: "integer",
  unique_sessions: "integer",
  orders: "integer",
  revenue: "number",
  subtotal_revenue: "number",
  conversion_rate: "number",
};
const pointFigures = { ...hostFigures, profile_views: "integer", list_views: "integer" };

/** See "Click analytics" in the API documentation. */
export const clicksShape: Shape = {
  summary: {
    ...pointFigures,
    product_views: "integer",
    opportunity_clicks: "integer",
    unique_users: "integer",
    manual_orders: "integer",
  },
  timeseries: [{ date: "date", ...pointFigures }],
  top_hosts: [{ host: { nullable: host }, ...hostFigures }],
  top_products: [
    {
      product_id: "string",
      title: "string",
      brand_name: "string",
      total_clicks: "integer",
      product_clicks: "integer",
      buy_now_clicks: "integer",
      unique_buy_now_clicks: "integer",
    },
  ],
};

const scalars: Record<string, (value: unknown) => boolean> = {
  any: () => true,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value) && Number(value) >= 0,
  positive: (value) => Number.isInteger(value) && Number(value) > 0,
  uuid: (value) =>
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  timestamp: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(String(value)),
};

/** Returns the paths of all values that do not match the shape, and adds the paths of null values to `nulls`. */
export function misfits(value: unknown, shape: Shape, at: string, nulls: Set<string>): string[] {
  if (typeof shape === "string") {
    const nullable = shape.endsWith("?");
    const name = nullable ? shape.slice(0, -1) : shape;
    if (value === null && nullable) return note(nulls, at);
    const holds = scalars[name] ?? ((one: unknown) => name.split("|").includes(String(one)));
    return holds(value) ? [] : [`${at}: ${JSON.stringify(value)} is not ${shape}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at}: not an array`];
    return value.flatMap((item) => misfits(item, shape[0], `${at}[]`, nulls));
  }
  if ("nullable" in shape)
    return value === null ? note(nulls, at) : misfits(value, shape.nullable as Shape, at, nulls);
  if (typeof value !== "object" || value === null) return [`${at}: not an object`];
  if ("keys" in shape) {
    const known = String(shape.keys).split("|");
    return Object.entries(value).flatMap(([name, one]) =>
      known.includes(name)
        ? misfits(one, shape.of as Shape, `${at}.*`, nulls)
        : [`${at}: unknown key ${name}`],
    );
  }
  const names = Object.keys(value).sort().join();
  if (names !== Object.keys(shape).sort().join()) return [`${at}: has ${names}`];
  return Object.entries(shape).flatMap(([name, inner]) =>
    misfits((value as Record<string, unknown>)[name], inner as Shape, `${at}.${name}`, nulls),
  );
}

function note(nulls: Set<string>, at: string): string[] {
  nulls.add(at);
  return [];
}

export function nullablesOf(shape: Shape, at: string): string[] {
  if (typeof shape === "string") return shape.endsWith("?") ? [at] : [];
  if (Array.isArray(shape)) return nullablesOf(shape[0], `${at}[]`);
  if ("nullable" in shape) return [at, ...nullablesOf(shape.nullable as Shape, at)];
  if ("keys" in shape) return nullablesOf(shape.of as Shape, `${at}.*`);
  return Object.entries(shape).flatMap(([name, inner]) => nullablesOf(inner as Shape, `${at}.${name}`));
}
