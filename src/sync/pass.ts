import { type Page, readPages } from "../api/pages.js";
import { valueAt } from "../records/values.js";
import type { ApiRecord, Query } from "../resources/types.js";
import { openForgetting } from "../state/removals.js";
import { noteUndated } from "../state/undated.js";
import { formatInstant, parseTimestamp } from "../times.js";
import type { SyncContext } from "./context.js";
import { arrivesBefore, dueIn, never } from "./due.js";
import type { Reading } from "./reading.js";

/** What one pass over the pages of a query found: each record's instant it is dated; null where it has none. */
export interface Pass extends Reading<number, number | null> {
  /** The page after the last one read, and how many the latest answer announced. */
  nextPage: number;
  totalPages: number;
  /** The oldest date so far; infinite before the first. */
  oldest: number;
  /** When the first page was asked for, in milliseconds. */
  startedAt: number;
}

export interface PassOptions {
  /** The first page; earlier ones were read before a stop. */
  from?: number;
  /** The last page wanted. */
  upTo?: number;
  /** What the pages before `from` held. */
  seen?: Map<number, number | null>;
  /** When they were read, and how many records the API counted since. */
  startedAt?: number;
  total?: number;
  /** Only a second look at what was read: it goes no further than `upTo`, and its rows are not counted as read. */
  isLook?: boolean;
  /** Called in the transaction that holds the pages up to `pass.nextPage`, to leave a checkpoint. */
  checkpoint?(pass: Pass): void;
}

/** The most that the API allows: its document, "Limits". */
export const mostPerPage = 100;

/**
 * How much is written in one transaction, and how long it may stay open: what a kill can cost. Large ones are far
 * cheaper, since random keys touch the same index pages again and again.
 */
const pagesPerCommit = 150;
const commitAfterMs = 1_000;
/** A read of few pages is over before that: the first transactions are short, each twice as long as the one before. */
const firstCommitAfterMs = 60;

/**
 * Reads pages in order and writes them, whole pages in a transaction.
 * @throws what `readPages` throws; pages that came before are written
 */
export async function readPass(context: SyncContext, query: Query, options: PassOptions = {}): Promise<Pass> {
  const { api, clock, mirror, progress, resource, task } = context;
  const pass: Pass = {
    seen: options.seen ?? new Map(),
    total: options.total ?? 0,
    shrank: false,
    nextPage: options.from ?? 1,
    totalPages: 1,
    oldest: Math.min(Number.POSITIVE_INFINITY, ...lastDate(options.seen)),
    startedAt: options.startedAt ?? clock.now(),
  };
  const pages = readPages(
    api,
    resource.path,
    { ...query, per_page: context.options.pageSize ?? mostPerPage },
    {
      from: pass.nextPage,
      recognise: context.store.recognise,
      scope: resource.scope,
      signal: context.signal,
      ...(options.upTo === undefined ? {} : { upTo: options.upTo }),
    },
  )[Symbol.asyncIterator]();
  const isRange = hasDates(context, query);
  const forget = openForgetting(mirror, resource.name);
  let written = 0;
  let openSince = 0;
  let due = never();
  let mayTakeMs = firstCommitAfterMs;
  let counted = countsOf(context);

  function write(page: Page): void {
    // A record that cannot be kept is refused before any of its page is written: the pages before it stay.
    context.store.checkKeys(page.records);
    if (written === 0) {
      mirror.db.exec("BEGIN IMMEDIATE");
      counted = countsOf(context);
      openSince = clock.monotonic();
      due = dueIn(clock, mayTakeMs);
    }
    written += 1;
    try {
      forget(writePage(context, page, pass, isRange));
    } catch (error) {
      undo();
      throw error;
    }
  }

  function commit(): void {
    if (written === 0) return;
    try {
      options.checkpoint?.(pass);
      mirror.db.exec("COMMIT");
      written = 0;
      due.cancel();
      mayTakeMs = Math.min(2 * mayTakeMs, commitAfterMs);
    } catch (error) {
      undo();
      throw error;
    }
  }

  /**
   * Takes back what is not committed, unless SQLite has done so itself, as when the disk is full. A savepoint for each page would cost less of it, but makes SQLite copy every
   * page of an index that the next record touches: a tenth of a first read.
   */
  function undo(): void {
    written = 0;
    due.cancel();
    Object.assign(context.run, counted);
    if (mirror.db.inTransaction) mirror.db.exec("ROLLBACK");
  }

  try {
    for (;;) {
      const next = pages.next();
      if (written > 0 && !(await arrivesBefore(due.passed, next))) commit();
      const { value: page, done: over } = await next;
      if (over) break;
      write(page);
      context.perPage = Math.max(1, page.pagination.per_page);
      progress.pages += 1;
      if (!options.isLook) {
        progress.rows += page.records.length;
        context.run.rows_read += page.records.length;
      }
      const last = options.isLook && options.upTo ? options.upTo : page.pagination.total_pages;
      const ahead = Math.max(Math.min(page.pagination.total_pages, last) - page.page, 0);
      task.update({ done: progress.pages, total: progress.pages + ahead, rows: progress.rows });
      if (written >= pagesPerCommit || clock.monotonic() - openSince >= mayTakeMs) commit();
    }
  } finally {
    // After a page that could not be kept nobody asks for the next one: those under way are called off.
    void pages.return();
    commit();
  }
  return pass;
}

/** What a run counts of rows, to be set back when they are not kept after all. */
function countsOf({ run: { rows_read, rows_new, rows_changed } }: SyncContext) {
  return { rows_read, rows_new, rows_changed };
}

/** @returns the ids of its records */
function writePage(context: SyncContext, page: Page, pass: Pass, isRange: boolean): number[] {
  const { run, store, resource } = context;
  const written = store.write(page.records, {
    readAt: formatInstant(page.receivedAt),
    position: (page.page - 1) * page.pagination.per_page,
    isList: resource.strategy.kind === "detail",
  });
  const undated: ApiRecord[] = [];
  page.records.forEach((record, index) => {
    const dated = record.held ? record.held.dated : dateOf(context, record.value);
    const id = written.ids[index];
    if (id !== undefined) pass.seen.set(id, dated);
    if (dated === null) undated.push(record);
    else pass.oldest = Math.min(pass.oldest, dated);
  });
  if (undated.length > 0 && "date" in resource.strategy) tellUndated(context, isRange, undated);
  run.rows_new += written.added;
  run.rows_changed += written.changed;
  if (page.pagination.total_items < pass.total) pass.shrank = true;
  pass.total = page.pagination.total_items;
  pass.totalPages = page.pagination.total_pages;
  pass.nextPage = page.page + 1;
  return written.ids;
}

function hasDates({ resource: { strategy } }: SyncContext, query: Query): boolean {
  if (!("date" in strategy)) return false;
  return query[strategy.from] !== undefined || query[strategy.until] !== undefined;
}

/** A record without a date is kept like any other; of the first one a person is told. */
function tellUndated(
  { mirror, reporter, resource }: SyncContext,
  inRange: boolean,
  records: ApiRecord[],
): void {
  if (!("date" in resource.strategy)) return;
  if (!noteUndated(mirror, resource.name, inRange).isFirst) return;
  const [first] = records;
  const { date } = resource.strategy;
  const key = first ? valueAt(first.value, [resource.key.at(-1) ?? "id"]) : null;
  reporter.warn(
    `${resource.name}: the API sent a record whose \`${date}\` is no date (${String(key).slice(0, 120)}): it is kept, and no range of dates has it`,
  );
}

function lastDate(seen: PassOptions["seen"]): number[] {
  const dates = [...(seen?.values() ?? [])].filter((date) => date !== null);
  return dates.slice(-1);
}

function dateOf({ resource }: SyncContext, value: unknown): number | null {
  const { strategy } = resource;
  const isDated = strategy.kind === "window" || strategy.kind === "increment";
  if (!isDated || typeof value !== "object" || value === null) return null;
  const text = (value as Record<string, unknown>)[strategy.date];
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}
