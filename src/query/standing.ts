import { firstRead, lastFinding, lastGood, lastRun, type Mirror, readInfo } from "../mirror/index.js";
import { standOn } from "./as-of.js";
import { syncedBy, typedTables } from "./names.js";

export type Standing = ReturnType<typeof readStanding>;

/** Returns whose a mirror is, and what is proven of the resources that a table or view is made of. Times are ISO 8601. */
export function readStanding(mirror: Mirror, table: string) {
  const below = standOn([table]);
  const shapes = typedTables().filter(({ name }) => below.has(name));
  const names = new Set(shapes.map(({ resource }) => syncedBy(resource).name));
  const runs = [...names].map((name) => ({
    last: lastRun(mirror, name),
    good: lastGood(mirror, name),
    name,
  }));
  const through = runs.map(({ good }) => good?.started_at ?? "").sort()[0] || null;
  const isProven = ({ last, good, name }: (typeof runs)[number]) =>
    last?.run_id === good?.run_id && !lastFinding(mirror, name);
  return {
    brand: readInfo(mirror, "brand_id"),
    mirror_since: firstRead(mirror),
    run: Math.max(0, ...runs.map(({ last }) => last?.run_id ?? 0)),
    verified: through !== null && runs.every(isProven),
    through,
  };
}
