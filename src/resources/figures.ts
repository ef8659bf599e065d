import type { DailyFigures } from "./types.js";

/** Each day's clicks and sales over the complete history, in one response: the API document, "2. GET /analytics/clicks". */
export const dailyFigures: DailyFigures = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  count: "orders",
  amounts: ["revenue", "subtotal_revenue"],
};
