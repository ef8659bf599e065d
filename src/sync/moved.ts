import { dayRange, type Range } from "../lib/ranges.js";
import type { Figures } from "../state/index.js";
import { movedDays, partsOf } from "./figures.js";
import { type DatedRun, mostPerPage } from "./run.js";

/** What an examined range has shown: its records are the mirror's, are so by now, or differ, and on which days if known. */
export type Examined = "same" | "mended" | { differOn: readonly string[] };

/** What the figures by day have come to. */
export interface Settled {
  /** Days that still may differ: nobody examined them, or they were found to. */
  suspects: string[];
  /** The days that moved where they are most, while the records of some were the same: the figures say nothing of any. */
  restated: readonly string[];
  /** Whether they tell of every day: not where they say nothing, begin late, or nobody came to days not known before. */
  isByDay: boolean;
}

/** The figures by day, as evidence that can be set aside. */
export const figuresName = "figures by day";

const requestsPerPart = 10;
const fewestMoved = 20;
const sampled = 10;

/**
 * Looks at the days whose figures moved, within a number of requests, those read longest ago first. Where most days
 * moved, some are looked at alone: when their records are the same, it is the figures that were restated.
 */
export async function settleMoved(
  run: DatedRun,
  figures: Figures | null,
  examine: (range: Range) => Promise<Examined>,
  left: () => number,
): Promise<Settled> {
  if (!figures || run.state.isSetAside(figuresName, run.now))
    return { suspects: [], restated: [], isByDay: false };
  const { moved, unknown, compared, isWhole } = movedDays(run, figures);
  const lowest = run.state.below().to + 1;
  const examineWanted = ({ from, to }: Range) =>
    examine({ from: Math.max(from, lowest), to: Math.min(to, figures.until) });
  const suspects = new Set(moved);
  const note = (examined: Examined, days: readonly string[]) => {
    for (const day of days) suspects.delete(day);
    if (typeof examined === "string") return;
    for (const day of examined.differOn.length > 0 ? examined.differOn : days) suspects.add(day);
  };
  const settled = (isByDay: boolean) => ({ suspects: [...suspects].sort(), restated: [], isByDay });
  if (moved.length > fewestMoved && moved.length > compared / 2) {
    const step = Math.floor(moved.length / sampled);
    let examined: Examined = "same";
    for (let index = 0; index < sampled && examined === "same"; index += 1) {
      const day = moved[index * step] ?? "";
      examined = await examineWanted(dayRange(day));
      note(examined, [day]);
    }
    if (examined === "same") return { suspects: [], restated: moved, isByDay: false };
  }
  // Nothing speaks against days whose figures nobody knew: they are looked at while there is something to spend.
  for (const days of [[...suspects], unknown])
    for (const part of partsOf(run, days, requestsPerPart * mostPerPage)) {
      if (left() <= 0) return settled(isWhole && unknown.length === 0);
      note(await examineWanted(part), part.days);
    }
  return settled(isWhole);
}
