/** Values that later versions of the API might add: API document, Versioning 2. */
const newValues: Record<string, string> = {
  attribution: "affiliate_feed",
  media_type: "model_3d",
  uploaded_by: "agency",
  brand_payment_state: "DISPUTED",
  athlete_payment_state: "PARTIALLY_PAID",
  listing_type: "lottery",
};

/** Objects whose keys are open: what is added there keeps the type of its neighbours. */
const openKeys: Record<string, Record<string, unknown>> = {
  assignment_counts: { WAITLISTED: 1 },
  socials: { mastodon: "https://social.example.com/@someone" },
};

/**
 * The same data as a later, compatible version of the API might send it: an unknown attribute on every object, at
 * every depth, and now and then an unknown value of an enum. Which ones depends on the content alone.
 */
export function withExtras(value: unknown, depth = 0, parent = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withExtras(item, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const key = openKeys[parent];
  if (key) return { ...value, ...key };
  const grown: Record<string, unknown> = {};
  const id = "id" in value ? String(value.id) : "";
  for (const [name, inner] of Object.entries(value)) {
    const newer = newValues[name];
    grown[name] = newer && sum(id) % 23 === 0 ? newer : withExtras(inner, depth + 1, name);
  }
  grown[`x_added_later_${depth}`] = additions[(sum(id) + depth) % additions.length];
  if (depth === 0) grown['x weird, "name"'] = { nested: [{ deep: true }, null], big: 12345678.9 };
  return grown;
}

const additions = [
  "text, with a comma",
  0.1,
  true,
  null,
  ["a", "b"],
  { inner: { level: 2 } },
  "=1+1",
] as const;

function sum(text: string): number {
  let total = 0;
  for (let n = 0; n < text.length; n++) total += text.charCodeAt(n);
  return total;
}
