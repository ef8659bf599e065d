import { describe, type Range } from "../lib/ranges.js";
import type { Json } from "../resources/types.js";
import { dropDays } from "./figures.js";
import { type DatedRun, mostPerPage, progressed } from "./run.js";
import { askNewest, checkDates, type Newest, rangeQuery } from "./seek.js";
import { syncList } from "./sync-list.js";
import { changesOf, cover, Group } from "./write.js";

/**
 * Reads a range of dates into the mirror, newest first, answer by answer. Each answer's records are written, its dates
 * covered, and the mirror's records that it should have shown and did not are noted as missing, all or nothing. The next
 * request is on its way while an answer is written.
 * @param left requests that may still be spent; the first one, and a crowd that was begun, are read in any case
 * @returns the oldest instant that was dealt with
 */
export async function readRange(
  run: DatedRun,
  range: Range,
  left = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  const group = new Group(run);
  const ask = (to: number) => {
    const answer = askNewest(run, { from: range.from, to });
    // A failure is thrown where the answer is awaited.
    answer.catch(() => {});
    return answer;
  };
  let to = range.to;
  let coming: Promise<Newest> | null = ask(to);
  try {
    while (coming) {
      const answer: Newest = await coming;
      const { covers, oldest, shown, total } = answer;
      const from = covers?.from ?? oldest;
      const askNext = () => (from <= range.from || left() <= 0 ? null : ask(from - 1));
      if (covers) {
        const next = askNext();
        await group.write(answer, covers, next);
        progressed(run, shown, next ? Math.ceil((total - shown) / mostPerPage) : 0);
        coming = next;
      } else {
        group.commit();
        await readSecond(run, { from, to });
        coming = askNext();
      }
      to = from - 1;
    }
  } finally {
    group.commit();
  }
  return to + 1;
}

/** Reads a second that has more records than an answer holds: as a list, whole or not at all. */
async function readSecond(run: DatedRun, second: Range): Promise<void> {
  const before = changesOf(run);
  const query = rangeQuery(run.resource.strategy, second);
  const check = (records: readonly Json[]) => void checkDates(run, records, second);
  const shown = await syncList(run, describe(second), query, second, check);
  if (!shown) return;
  run.mirror.transaction(() => {
    if (changesOf(run) > before) dropDays(run, second);
    cover(run, { ...shown, range: second });
  });
}
