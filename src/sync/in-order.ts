import { AnswerRefused, ApiUnavailable, type BrandapiError, NotFound, UnexpectedAnswer } from "../errors.js";
import { progressed, type SyncRun } from "./run.js";

/** Most requests at once: the API's budget is counted in requests, not in connections. */
const inFlight = 4;

/**
 * Runs work for each item, a few at once, and hands the results over in order.
 * @throws the first failure, after the work under way has ended
 */
export async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  take: (result: Result, item: Item) => void | Promise<void>,
): Promise<void> {
  const started: Promise<Result>[] = [];
  const start = (item: Item | undefined) => {
    if (item === undefined) return;
    const result = work(item);
    // A failure is thrown where its turn comes.
    result.catch(() => {});
    started.push(result);
  };
  try {
    for (const item of items.slice(0, inFlight)) start(item);
    for (const [index, item] of items.entries()) {
      const result = await (started.shift() as Promise<Result>);
      start(items[index + inFlight]);
      await take(result, item);
    }
  } finally {
    await Promise.allSettled(started);
  }
}

/** A record whose details may be asked for. Of the record itself, which may be large, nothing is kept. */
export interface Detailed {
  id: number;
  key: string;
  /** Its id; null where it has none, or one that no address can hold. */
  askBy: string | null;
  /** When its details were last read, ISO 8601; null before the first time. */
  detailedAt: string | null;
  /** Whether the list's record came or changed since its details were read. */
  pending: boolean;
  /** Whether its details may be others by now: they are pending, or something in them can still move. */
  isOpen: boolean;
  /** Whether they are to be asked for now. */
  isDue: boolean;
}

/** So often in a row it does not answer: it is not a record that is broken, but all of it. Each is waited for long. */
const mostSilent = 10;

/**
 * Asks for the details of each record, a few at once. One that the API does not answer for, or not as documented, keeps
 * no other out, unless it is silent for one after the other.
 * @returns the records whose details are not there: gone meanwhile, perhaps
 * @throws the first failure, in the end
 */
export async function askEach<Answer>(
  run: SyncRun,
  due: readonly Detailed[],
  ask: (record: Detailed) => Promise<Answer>,
  take: (answer: Answer, record: Detailed) => void | Promise<void>,
): Promise<Detailed[]> {
  const { pages, reporter, resource, row, task } = run;
  const lost: Detailed[] = [];
  const failures: BrandapiError[] = [];
  let left = due.length;
  let silent = 0;
  // Before the first answer, which may wait for the rate limit: the list alone is not all of it.
  task.update({ done: pages, total: pages + left, rows: row.rows_read });
  const orFailure = (record: Detailed) =>
    ask(record).then(
      (answer) => ({ answer }),
      (error: unknown) => {
        if (isOfOne(error)) return { error };
        throw error;
      },
    );
  await inOrder(due, orFailure, async (result, record) => {
    left -= 1;
    progressed(run, 0, left);
    try {
      if ("error" in result) throw result.error;
      await take(result.answer, record);
      silent = 0;
    } catch (error) {
      if (!isOfOne(error)) throw error;
      if (error instanceof NotFound) {
        lost.push(record);
        reporter.note(
          `${resource.name}: ${record.key}: the API answered 404 when its details were asked for`,
        );
        return;
      }
      failures.push(error);
      silent = error instanceof ApiUnavailable ? silent + 1 : 0;
      if (silent === mostSilent) throw failures[0];
    }
  });
  if (failures[0]) throw failures[0];
  return lost;
}

/** Whether a failure may be of one record alone. */
function isOfOne(error: unknown): error is BrandapiError {
  if (error instanceof ApiUnavailable) return !error.everywhere;
  return error instanceof UnexpectedAnswer && !(error instanceof AnswerRefused);
}
