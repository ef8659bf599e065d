/** The sandbox's choices, for its help: the API document says "not shown" here, or allows several readings. */
export const sandboxChoices: readonly string[] = [
  "A bare date is a whole day in UTC; timestamps end in Z or a zero offset.",
  "A page past the end is an empty list; an empty list has total_pages 0.",
  "`active` orders are neither cancelled nor fully refunded.",
  "Orders of one instant: the one attributed last comes first.",
  "A malformed id is a 404 in a path, a 400 in a query.",
  "Checked in this order: limit, path, method, key, scope, plan, parameters.",
  "Refused requests count against the limits too.",
  "Analytics: no cancelled orders, refunds taken off, currencies added up.",
  "Weeks begin on Monday; unique counts of days do not add up.",
  "`download_path` starts at /content; attachments' URLs lead nowhere.",
  "Recommended products carry `note` and `url` beside `id` and `title`.",
  "Gifts, codes, surveys: paginated, with UUIDs; results: one object.",
  "Errors: {success: false, error: {code, message, status}}.",
];
