import { firstRead, type Mirror } from "../mirror/index.js";
import { standOn } from "./as-of.js";
import { readHealth } from "./health.js";
import { syncedBy, typedTables } from "./names.js";

export type Standing = ReturnType<typeof readStanding>;

/** Returns whose a mirror is, and how the resources stand that a table or view is made of. @param now milliseconds since 1970 */
export function readStanding(mirror: Mirror, table: string, now: number) {
  const below = standOn([table]);
  const shapes = typedTables().filter(({ name }) => below.has(name));
  const names = shapes.map(({ resource }) => syncedBy(resource).name);
  const health = readHealth(mirror, now, null, null);
  const resources = health.resources.filter(({ resource }) => names.includes(resource));
  const through = resources.map(({ last_success_at }) => last_success_at ?? "").sort()[0];
  return {
    brand: health.brand?.id ?? null,
    /** When the mirror's first run began. */
    since: firstRead(mirror),
    /** The newest run of them. */
    run: Math.max(...resources.map(({ last_run }) => last_run?.run_id ?? 0), 0),
    /** True if the newest run of each was verified, and nothing was found since. */
    verified:
      Boolean(through) &&
      resources.every((one) => !one.found && one.last_run?.started_at === one.last_success_at),
    /** The time through which each was verified; null: one never was. */
    through: through || null,
    resources: resources.map(({ resource, rows, covered }) => ({ resource, rows, covered })),
  };
}
