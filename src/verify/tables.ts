import { formatInstant } from "../lib/times.js";
import {
  compareTables,
  differenceText,
  noteTables,
  rebuildTables,
  type TableDifference,
} from "../records/index.js";
import { detailsOf, type Resource } from "../resources/types.js";
import type { SyncSession } from "../sync/run.js";

/** How a resource's tables stand to its records: part of a line of `verify --json`. */
export interface TableFinding {
  state: "proven" | "different" | "repaired";
  /** The tables that differ, or did before they were rebuilt; `why` says it in words. */
  differences: (TableDifference & { why: string })[];
}

/**
 * Proves that the tables that people query match the records; with `repair`, rebuilds those that do not. The API is not
 * asked. The finding is kept for `status` until a later one.
 */
export function proveTables(
  { clock, mirror, reporter }: Pick<SyncSession, "clock" | "mirror" | "reporter">,
  resource: Resource,
  repair: boolean,
): TableFinding & { error: string | null } {
  const resources = [resource, detailsOf(resource) ?? []].flat();
  const before = compareTables(mirror, resources);
  const isRepaired = repair && before.length > 0;
  if (isRepaired) for (const lost of rebuildTables(mirror, resources)) reporter.warn(lost);
  const left = isRepaired ? compareTables(mirror, resources) : before;
  const note = noteTables(mirror, resource.name, left, formatInstant(clock.now()));
  const differences = (note ? left : before).map((one) => ({ ...one, why: differenceText(one) }));
  if (note) return { state: "different", differences, error: note.error };
  return { state: isRepaired ? "repaired" : "proven", differences, error: null };
}
