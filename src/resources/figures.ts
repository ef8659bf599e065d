import type { DailyFigures } from "./types.js";

/** Each day's clicks and sales over the whole history, one answer: the API document, "2. GET /analytics/clicks". */
export const dailyFigures: DailyFigures = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  figures: ["orders", "revenue", "subtotal_revenue"],
};
