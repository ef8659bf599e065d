import { datedAt } from "../../records/record-table.js";
import { asObject } from "../../records/values.js";
import { readCoverage, type Span, stretches } from "../../state/coverage.js";
import { countConfirmed, noteMissing, presentIds } from "../../state/removals.js";
import { rangeQuery, type SyncContext } from "../context.js";
import { type Pass, readPass } from "../pass.js";
import type { Goal } from "../plan.js";
import { readAgain } from "../walk.js";
import { allRecords } from "./counts.js";
import { rereadDiffering } from "./differing.js";

const everything = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
/** A list that has more than so many pages dated in the future is read by a clock that is far behind. */
const mostPages = 20;
/** Finer than any date of the API, and coarse enough for a number of milliseconds since 1970. */
const instantMs = 0.0005;

/**
 * Looks once more, without any dates: one request shows what no range up to now does. Records dated in the future are
 * read, and so are not taken for gone; so are those without a date. And it counts everything at the end of the read.
 * @param looks.isWhole look at the whole newest page, not only at its first record and the count: it was read first,
 * and has lain behind the reader longest
 * @param looks.since milliseconds: what was read before is counted later, with all that is covered
 * @returns whether the API has as many records as the mirror, which has read everything up to now
 */
export async function readBeyond(
  context: SyncContext,
  { isWhole, since }: { isWhole: boolean; since: number },
): Promise<boolean> {
  const { mirror, resource, now } = context;
  const spans = readCoverage(mirror, resource.name);
  const covered = upToNow(context, spans);
  const hasEverything = covered?.from === everything.from;
  if (!isWhole && !(await isUnexpected(context, hasEverything))) return hasEverything;
  const newest = newestId(context);
  const pass = await readNewest(context);
  if (!covered) return false;
  const lowest = reachesEnd(pass) ? covered.from : Math.max(covered.from, pass.oldest);
  if (!isSame(context, pass, { from: lowest, to: now }, newest))
    await readAgain(context, { from: lowest, to: now });
  if (!hasEverything) return false;
  const isCountedLater = spans.some(({ readAt }) => readAt < since);
  await compareTotals(context, isCountedLater ? null : covered, pass);
  return false;
}

/** The stretch of what was read that reaches up to now. */
function upToNow({ now }: SyncContext, spans: readonly Span[]): Goal | undefined {
  return stretches(spans).find(({ from, to }) => from <= now && to >= now);
}

/** Whether the newest record of all, or their number, is another than a mirror that is complete up to now has. */
async function isUnexpected(context: SyncContext, hasEverything: boolean): Promise<boolean> {
  const { api, mirror, now, resource, signal } = context;
  const query = { ...resource.query, page: 1, per_page: 1 };
  const { items, pagination } = await api.get(resource.path, query, { scope: resource.scope, signal });
  const newest = items?.[0];
  if (newest && !((datedAt(resource, asObject(newest.value)) ?? Number.POSITIVE_INFINITY) <= now))
    return true;
  if (!hasEverything) return false;
  return (
    (pagination?.total_items ?? items?.length ?? 0) !== countConfirmed(mirror, resource.name, everything, 0)
  );
}

/**
 * The pages, without an end, down to the first record that is not dated in the future; without a beginning too, unless
 * nobody asked for what is older.
 */
export async function readNewest(context: SyncContext): Promise<Pass> {
  const { mirror, now, resource } = context;
  const oldest = upToNow(context, readCoverage(mirror, resource.name))?.from ?? now;
  const query = rangeQuery(resource, oldest, everything.to);
  let pass = await readPass(context, query, { upTo: 1, isLook: true });
  while (pass.oldest > now && !reachesEnd(pass) && pass.nextPage <= mostPages) {
    const { nextPage: from, seen, total, startedAt } = pass;
    pass = await readPass(context, query, {
      from,
      upTo: from,
      seen,
      total,
      startedAt,
      isLook: true,
    });
  }
  if (pass.oldest <= now || reachesEnd(pass))
    noteMissing(mirror, resource.name, pass.seen, { from: now + instantMs, to: everything.to });
  else
    context.shortfalls.push(
      `more than ${pass.seen.size} records are dated after now: is this machine's clock behind?`,
    );
  return pass;
}

/**
 * Whether a page that was just read holds, between two dates, what the mirror holds there.
 * @param newest the newest record's id before it was read
 */
export function isSame(context: SyncContext, { seen }: Pass, range: Goal, newest: number): boolean {
  const isNew = ([id, date]: [number, number | null]) =>
    id > newest && date !== null && date >= range.from && date <= range.to;
  if ([...seen].some(isNew)) return false;
  // Records of the page's last instant may go on upon the next page.
  const between = { from: range.from + instantMs, to: range.to };
  return presentIds(context.mirror, context.resource.name, between).every((id) => seen.has(id));
}

export function newestId({ mirror }: SyncContext): number {
  return mirror.db.prepare("SELECT coalesce(max(record_id), 0) FROM records").pluck().get() as number;
}

export function reachesEnd({ nextPage, totalPages }: Pass): boolean {
  return nextPage > totalPages;
}

/** Where the API has more than was found, what has no date may stand last; what else differs, the counts find. */
async function compareTotals(
  context: SyncContext,
  covered: Goal | null,
  { total, totalPages }: Pass,
): Promise<void> {
  const { mirror, resource } = context;
  const held = () => countConfirmed(mirror, resource.name, everything, 0);
  if (held() === total) return;
  if (held() < total && totalPages > 1)
    await readPass(context, resource.query, { from: totalPages, isLook: true });
  if (covered && held() !== total) await rereadDiffering(context, covered, [allRecords]);
}
