import { range, spread } from "./spread.js";

/** What one reading of a list found: its distinct records, by what tells them apart. */
export interface Reading<Key = unknown, Value = unknown> {
  seen: Map<Key, Value>;
  /** `total_items` of the latest answer. */
  total: number;
  /**
   * Whether the API's count fell while the pages were read. A row that goes from a page already read draws one from a
   * page to come onto it, past the reader: the count then agrees, and the read has missed a row all the same.
   */
  shrank: boolean;
}

/** Whether a reading that came to the end found each record that the API counts. */
export function isWhole({ seen, total, shrank }: Reading): boolean {
  return seen.size === total && !shrank;
}

/** What to say of a list that was never found whole. */
export function whyNotWhole({ seen, total }: Pick<Reading, "seen" | "total">): string {
  return seen.size === total
    ? "never settled: records went while it was read, each time"
    : `never settled: ${seen.size} distinct records were found where the API counts ${total}`;
}

/** Pages looked at again, a request each. */
const mostLooks = 4;

/**
 * Looks again at pages of a whole reading that came in several: one row that left a page already read, and another that
 * came to a later one, leave the count as it was, and draw a third past the reader. It is now where nothing was.
 * @param pageAgain what a page holds now
 * @returns whether a page holds what the reading has not
 */
export async function hasMoved<Key>(
  { seen }: Pick<Reading<Key>, "seen">,
  pages: number,
  pageAgain: (page: number) => Promise<Iterable<Key>>,
): Promise<boolean> {
  for (const page of spread(range(1, pages - 1), mostLooks))
    for (const key of await pageAgain(page)) if (!seen.has(key)) return true;
  return false;
}

const mostAttempts = 5;

/**
 * Reads a list until the distinct records agree with the API's count, a bounded number of times. One that keeps its
 * total but not its order is put together from several readings.
 * @returns the last reading, and what was put together: all records where `isSettled`
 */
export async function readUntilWhole<Key, Value, One extends Reading<Key, Value>>(
  read: () => Promise<One & Reading<Key, Value>>,
): Promise<{ last: One; seen: Map<Key, Value>; isSettled: boolean }> {
  let before: One | undefined;
  let seen = new Map<Key, Value>();
  for (let attempt = 1; ; attempt += 1) {
    const last = await read();
    if (isWhole(last)) return { last, seen: last.seen, isSettled: true };
    if (last.shrank || before?.total !== last.total) seen = new Map();
    // What a list held before it shrank is no part of it.
    if (!last.shrank) {
      seen = new Map([...seen, ...last.seen]);
      if (seen.size === last.total) return { last, seen, isSettled: true };
      if (seen.size > last.total) seen = new Map(last.seen);
    }
    if (attempt === mostAttempts) return { last, seen, isSettled: false };
    before = last;
  }
}
