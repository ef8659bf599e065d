import { formatInstant } from "../lib/times.js";
import {
  compareTables,
  differenceText,
  noteTables,
  rebuildTables,
  type TableDifference,
} from "../records/index.js";
import { detailsOf, type Resource } from "../resources/types.js";
import { countPresent } from "../state/index.js";
import type { Access } from "../sync/run.js";

/** How a resource's tables stand to its records: part of a line of `verify --json`. */
export interface TableFinding {
  state: "proven" | "different" | "repaired";
  /** The tables that differ, or did before they were made anew; `why` says it in words. */
  differences: (TableDifference & { why: string })[];
}

/**
 * Proves that the tables that people query say what the records say; with `repair` makes them anew where they do not.
 * The API is not asked. What is found stays noted, for `status`, until it is found otherwise.
 */
export async function proveTables(
  access: Access,
  resource: Resource,
  repair: boolean,
): Promise<TableFinding & { error: string | null }> {
  const { clock, mirror } = access;
  const resources = [resource, detailsOf(resource) ?? []].flat();
  const task = access.reporter.begin({ name: resource.name, unit: "rows" });
  const rows = resources.reduce((sum, { name }) => sum + countPresent(mirror, name), 0);
  const looked = (done: number) => task.update({ done, total: Math.max(done, rows) });
  const differences = await access.killable(async () => compareTables(mirror, resources, looked));
  task.end(null);
  const isRepaired = repair && differences.length > 0;
  if (isRepaired) await access.killable(async () => rebuildTables(mirror, resources));
  const left = isRepaired ? await access.killable(async () => compareTables(mirror, resources)) : differences;
  const note = noteTables(mirror, resource.name, left, formatInstant(clock.now()));
  if (note) return { state: "different", differences: left.map(told), error: note.error };
  return { state: isRepaired ? "repaired" : "proven", differences: differences.map(told), error: null };
}

function told(difference: TableDifference): TableFinding["differences"][number] {
  return { ...difference, why: differenceText(difference) };
}
