import { counted } from "../lib/counted.js";
import { countUndated } from "../state/index.js";
import type { DatedRun } from "./run.js";

/**
 * Returns what is wrong with dates, as a clause: the newest record of a marked slice, and how many there are; null if there
 * are none.
 */
export function markedText({
  mirror,
  resource,
  state,
}: Pick<DatedRun, "mirror" | "resource" | "state">): string | null {
  const newest = state.marked().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${counted(undated, "record")} without a readable date` : null;
  const records = counted(state.markedIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}
