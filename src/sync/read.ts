import { describe, includes, type Range, touches } from "../lib/ranges.js";
import { valueAt } from "../records/index.js";
import type { ApiRecord } from "../resources/types.js";
import { type Figures, noteRunCoverage } from "../state/index.js";
import { shareOf } from "./figures.js";
import type { Slice } from "./first-page.js";
import { datedOf } from "./former.js";
import { missTwice } from "./removals.js";
import { type DatedRun, mostPerPage, progressed } from "./run.js";
import { seek } from "./seek.js";
import { writeAnswer, writeEach } from "./write.js";

/**
 * Reads a range of dates into the mirror, and claims it slice by slice. A part that could not be read is a shortfall.
 * @param figures asked for before: they are kept of each day that is read whole
 * @param most requests at most
 * @returns the oldest instant that was proven
 */
export async function readRange(
  run: DatedRun,
  range: Range,
  figures: Figures | null,
  most?: number,
): Promise<number> {
  const { reached, lists } = await readOnce(run, range, figures, most);
  for (const list of lists) {
    const missing = () =>
      run.state.missing().flatMap(({ id, dated }) => (dated !== null && includes(list, dated) ? id : []));
    await missTwice(run, describe(list), missing(), async () => {
      await readOnce(run, list, figures);
      return missing();
    });
  }
  return reached;
}

async function readOnce(
  run: DatedRun,
  range: Range,
  figures: Figures | null,
  most?: number,
): Promise<{ reached: number; lists: Range[] }> {
  const { mirror, now, resource, row, shortfalls, state, store } = run;
  const lists: Range[] = [];
  let reached = Number.POSITIVE_INFINITY;
  let rows = 0;
  let expected = 0;
  const options = {
    share: shareOf(figures),
    most,
    isNew: isNew(run, range),
    recognise: store.recognise,
    givenUp: (part: Range, why: string) => void shortfalls.push(`${describe(part)} ${why}`),
  };
  await writeEach(run, seek(run, range, options), function* (slice: Slice) {
    const { askedAt, covers, found, records, total } = slice;
    const ids = yield* writeAnswer(run, slice);
    const isNew = (record: ApiRecord, index: number) =>
      covers ? includes(covers, datedOf(resource, record) ?? covers.from) : !found.has(ids[index]);
    const counted = records.filter(isNew).length;
    for (const id of ids) found.add(id);
    noteUndated(run, slice, ids, Number.isFinite(range.from) || Number.isFinite((covers ?? range).to));
    rows += counted;
    state.noteResolution(run.resolution);
    if (covers) {
      state.cover({ range: covers, found, askedAt, runId: row.run_id }, now, figures);
      noteRunCoverage(mirror, row.run_id, state.coverage());
      reached = Math.min(reached, covers.from);
      if (slice.isList) lists.push(covers);
    }
    expected ||= total;
    progressed(run, counted, most === undefined ? Math.ceil((expected - rows) / mostPerPage) : 0);
  });
  return { reached, lists };
}

/** Whether nothing of a range was ever read: who is hidden there shows in the counts. */
export function isNew({ state }: Pick<DatedRun, "state">, range: Range): boolean {
  return !state.coverage().some((one) => touches(one, range)) && state.count(range) === 0;
}

/** A record without a date is kept like any other, and no range of dates claims it; of the first one a person is told. */
function noteUndated(
  run: DatedRun,
  { covers, found: listed, isList, records, total }: Slice,
  ids: readonly number[],
  inRange: boolean,
): void {
  const { reporter, resource, state, undated } = run;
  const found = records.flatMap((record, at) => (datedOf(resource, record) === null ? at : []));
  const first = records[found[0] ?? -1];
  if (!first) {
    // An answer, or a list at its end, that shows all that it counts shows these, too, if they are listed in ranges.
    const shown = isList && covers ? [...listed] : ids;
    const isNone = shown.length >= total && !shown.some((id) => undated.has(Number(id)));
    if (inRange && isNone) state.noteNoneUndated();
    return;
  }
  for (const at of found) undated.add(ids[at] ?? 0);
  if (!state.noteUndated(inRange).isFirst) return;
  const { date } = resource.strategy;
  const key = String(valueAt(first.value, [resource.key.at(-1) ?? "id"])).slice(0, 120);
  reporter.warn(
    `${resource.name}: the API sent a record whose \`${date}\` is no date (${key}): it is kept, and no range of dates has it`,
  );
}
