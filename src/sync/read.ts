import type { Range } from "../lib/ranges.js";
import { datedOf } from "../records/index.js";
import { readByPage, readSlice, settleCopies } from "./by-page.js";
import { type DatedRun, mostPerPage, progressed } from "./run.js";
import { type Newest, readNewest } from "./seek.js";
import { WriteBatch } from "./write.js";

/**
 * Reads a range of dates into the mirror, newest first, response by response. Each response's records are written, its
 * dates covered, and the mirrored records that it should have shown and did not are noted as missing, all or nothing. The
 * next request is on its way while a response is written. A response that breaks A1, A2 or A3 ends this: the rest of the
 * range is read by page number.
 * @param left requests that may still be spent; the first one, and a dense second, are read in any case
 * @returns the oldest instant that was read
 */
export async function readRange(
  run: DatedRun,
  range: Range,
  left = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  const batch = new WriteBatch(run);
  const request = (to: number) => {
    const response = readNewest(run, { from: range.from, to });
    // A failure is thrown where the response is awaited.
    response.catch(() => {});
    return response;
  };
  let to = range.to;
  let coming: Promise<Newest> | null = request(to);
  let previous: Newest | null = null;
  /** The records of the last response's oldest second, which the next response is to show again. */
  let cut: readonly number[] = [];
  try {
    while (coming) {
      const response: Newest = await coming;
      const { covers, isBroken, oldest, shown, total } = response;
      // Another number of records is left than the last response has announced.
      const doubted = previous?.covers && total !== previous.total - previous.shown ? previous : null;
      if (doubted || isBroken) batch.commit();
      if (doubted?.covers && (await hidesRecords(run, doubted.covers, doubted.shown)))
        return await readByPage(run, { from: range.from, to: doubted.covers.to }, left);
      if (isBroken) return await readByPage(run, { from: range.from, to }, left);
      const from = covers?.from ?? oldest;
      const requestNext = () => (from <= range.from || left() <= 0 ? null : request(from - 1));
      if (covers) {
        const next = requestNext();
        const { copies, ids } = await batch.write(response, covers, next);
        const settled = copies.filter(({ value }) => (datedOf(run.resource, value) ?? 0) >= from);
        if (settled.length > 0) {
          batch.commit();
          await settleCopies(run, settled, response.askedAt);
        }
        const withdrawn = cut.filter((id) => !ids.includes(id)).length;
        cut = ids.slice(shown - settled.length);
        progressed(run, shown + withdrawn, next ? Math.ceil((total - shown) / mostPerPage) : 0);
        coming = next;
        previous = response;
      } else {
        batch.commit();
        await readSlice(run, { from, to });
        cut = [];
        previous = null;
        coming = requestNext();
      }
      to = from - 1;
    }
  } finally {
    batch.commit();
  }
  run.row.rows_read += cut.length;
  return to + 1;
}

/**
 * True if a response did not show all records of the dates that it covers, although another number of records than expected
 * is left below them: it was in order by chance (A1), or its dates are coarser than those that the API filters by (A3).
 * Otherwise records have come or left meanwhile.
 */
async function hidesRecords(run: DatedRun, covers: Range, shown: number): Promise<boolean> {
  const again = await readNewest(run, covers);
  return again.isBroken || again.total > shown;
}
