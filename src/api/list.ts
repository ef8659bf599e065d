import { lastPage, type Page } from "./pages.js";

/** What the readings of a list came to. */
export interface Reading<Key> {
  /** Who is on the list; if it never settled, who was found by the last reading. */
  found: ReadonlySet<Key>;
  /** `total_items` of the last answer. */
  total: number;
  isWhole: boolean;
  /** Whether it has more pages than can be asked for: to read it again shows nothing else. */
  isTooLong?: boolean | undefined;
  /** When the first answer was asked for of those that it was put together from. */
  askedAt: number;
}

/** A page, and where whoever takes it puts the keys of its records. */
export interface ListPage<Key> extends Page {
  found: Set<Key>;
}

/** Readings in a row that may bring nothing, and in all. */
const mostIdle = 4;
const mostReadings = 32;

/**
 * Reads a list by page numbers until it is whole: the distinct records are as many as the API counts, and the count
 * did not fall meanwhile, since one who leaves a page already read draws another past the reader. Where the same
 * number comes in changing order, it is put together from several readings, and believed when everybody on it was seen
 * once more after it was complete: one who has left would not be.
 * @param pages one reading
 */
export async function* readList<Key>(
  pages: () => AsyncIterable<Page>,
): AsyncGenerator<ListPage<Key>, Reading<Key>> {
  /** Everybody seen since the number is the same, and who was seen again since they are as many as that. */
  let [together, seenAgain] = [new Set<Key>(), new Set<Key>()];
  let before: number | undefined;
  let askedAt = Number.POSITIVE_INFINITY;
  let idle = 0;
  for (let readings = 1; ; readings += 1) {
    const found = new Set<Key>();
    const ones: number[] = [];
    let total = 0;
    let [fell, isTooLong] = [false, false];
    for await (const page of pages()) {
      ones.push(page.askedAt);
      fell ||= page.pagination.total_items < total;
      total = page.pagination.total_items;
      isTooLong = page.pagination.total_pages > lastPage;
      yield { ...page, found };
    }
    const readAt = Math.min(...ones);
    const last = { found, total, isTooLong };
    if (found.size === total && !fell) return { ...last, isWhole: true, askedAt: readAt };
    const seen = together.size + seenAgain.size;
    const isSame = !fell && total === before;
    if (isSame && together.size === total) seenAgain = new Set([...seenAgain, ...found]);
    together = isSame ? new Set([...together, ...found]) : fell ? new Set() : found;
    askedAt = isSame ? Math.min(askedAt, readAt) : readAt;
    if (seenAgain.size === total && together.size === total)
      return { ...last, found: together, isWhole: true, askedAt };
    // Somebody has left while another came: what was put together is of two lists.
    if (together.size > total) together = found;
    if (!isSame || together === found) seenAgain = new Set();
    idle = isSame && together.size + seenAgain.size > seen ? 0 : idle + 1;
    if (isTooLong || idle > mostIdle || readings === mostReadings)
      return { ...last, isWhole: false, askedAt: readAt };
    before = total;
  }
}

/** What to say of a list that was never found whole. */
export function whyNotWhole({
  found,
  isTooLong,
  total,
}: Pick<Reading<unknown>, "found" | "isTooLong" | "total">): string {
  if (isTooLong) return `is longer than the API lets anyone read: ${found.size} of ${total} were found`;
  return found.size === total
    ? "never settled: records went while it was read, each time"
    : `never settled: ${found.size} distinct records were found where the API counts ${total}`;
}
