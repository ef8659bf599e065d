/** Where the API document says "not shown", or allows several readings, what this sandbox does. For `--help`. */
export const sandboxChoices: readonly string[] = [
  "A bare date is the whole day in UTC: as start_date from its first instant, as end_date to its last.",
  "Timestamps must end in Z or a zero offset; other offsets are refused with 400, like repeated parameters.",
  "A page past the end is 200 with an empty list; an empty list has total_pages 0.",
  "Orders: `active` is neither cancelled nor fully refunded; a cancelled order can be refunded too, and is in both filters.",
  "Orders of one instant: the one attributed last comes first.",
  "A malformed id in a path is a 404, in a query a 400. Unknown paths are 404 and other methods 405, with or without a key.",
  "Checked in this order: rate limit, path, method, key in the URL or x-api-key, key, address, scope, plan, parameters, id.",
  "Every request counts against the limits, refused ones too, in a sliding window of 60 seconds.",
  "Analytics leave cancelled orders out, take refunds off `revenue`, and add currencies as if they were one.",
  "Unique counts of several days are less than the sum of the days; weeks begin on Monday.",
  "`download_path` starts at /content; attachments' URLs are fixed and lead nowhere.",
  "Recommended products carry `note` (or null) and `url` beside `id` and `title`.",
  "Gifts, codes and surveys are paginated and strict, with UUIDs; a survey's results are one object with `questions`.",
  "Error bodies are {success: false, error: {code, message, status}}; what is left of the limit is in X-RateLimit-* headers.",
];
