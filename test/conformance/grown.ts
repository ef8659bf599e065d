import type { Brand } from "../../src/sandbox/brand.js";
import { listNames } from "../support/records.js";

/** Values that a later version of the API may add (see "Versioning", item 2, in the API documentation). */
const newValues: Record<string, string> = {
  attribution: "affiliate_feed",
  media_type: "model_3d",
  uploaded_by: "agency",
  brand_payment_state: "DISPUTED",
  listing_type: "lottery",
};
const additions = ["text, with a comma", 0.1, true, null, ["a", "b"], { inner: { level: 2 } }, "=1+1"];

/** Adds fields to a brand's records at every depth, as a later version of the API may do. */
export function grown(brand: Brand): void {
  for (const name of listNames) brand[name] = grow(brand[name], 0) as never;
}

function grow(value: unknown, depth: number, name = ""): unknown {
  if (Array.isArray(value))
    return value.map((item, n) => (typeof item === "object" ? grow(item, depth, n % 9 ? "" : name) : item));
  if (typeof value !== "object" || value === null)
    return newValues[name] && depth % 2 ? newValues[name] : value;
  if (name === "socials") return { ...value, mastodon: "https://social.example.com/@someone" };
  if (name === "assignment_counts") return { ...value, WAITLISTED: 1 };
  const members = Object.entries(value).map(([inner, one]) => [inner, grow(one, depth + 1, inner)]);
  return {
    ...Object.fromEntries(members),
    [`x_later_${depth}`]: additions[depth % additions.length],
    ...(depth === 0 ? { 'x weird, "name"': { nested: [{ deep: true }, null], big: 12345678.9 } } : {}),
  };
}
