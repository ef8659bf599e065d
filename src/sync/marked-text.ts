import { counted } from "../lib/counted.js";
import { countUndated } from "../state/index.js";
import type { DatedRun } from "./run.js";

/**
 * Returns what is wrong in the marked slices, as a clause: the first record, and how many there are; null if there are none.
 */
export function markedText({
  mirror,
  resource,
  state,
}: Pick<DatedRun, "mirror" | "resource" | "state">): string | null {
  const newest = state.marked().at(-1);
  if (!newest) return null;
  const records = counted(state.markedIds().size, "such record");
  const undated = countUndated(mirror, resource.name);
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}
