import { AnswerRefused, type BrandapiError, Incomplete, NotFound, UnexpectedAnswer } from "../errors.js";
import { noteOutdated } from "../records/index.js";
import { progressed, type SyncRun } from "./run.js";

/** Requests at once: the API's budget counts requests, not connections. */
const inFlight = 4;

/** A mirrored record whose details may be asked for. */
export interface Parent {
  id: number;
  key: string;
  /** Its id in the API's addresses. */
  askBy: string;
  /** True if its details were not read since it came or changed. */
  isPending: boolean;
  /** True if its details are to be read in this run. */
  isDue: boolean;
  detailedAt: string | null;
}

/**
 * Does the work of each record, four at a time. After an answer that is 404, not as documented or not believed it goes
 * on: the record is noted as outdated, so that the next run asks again and `verify` does not call it proven.
 * @returns how many records the API answered 404 for
 * @throws the first failure, after the other records
 */
export async function askEach<Item extends { id: number }>(
  run: SyncRun,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<number> {
  const { mirror } = run;
  const failures: BrandapiError[] = [];
  let next = 0;
  async function takeTurns(): Promise<void> {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      const { id } = item;
      await work(item).catch((error: unknown) => {
        if (!concernsOneRecord(error)) {
          next = items.length;
          throw error;
        }
        failures.push(error);
        mirror.transaction(() => noteOutdated(mirror, id));
      });
      progressed(run, 0, items.length - next);
    }
  }
  const turns = await Promise.allSettled(Array.from({ length: inFlight }, takeTurns));
  for (const turn of turns) if (turn.status === "rejected") throw turn.reason;
  const failure = failures.find((error) => !(error instanceof NotFound));
  if (failure) throw failure;
  return failures.length;
}

function concernsOneRecord(error: unknown): error is BrandapiError {
  if (error instanceof AnswerRefused) return false;
  return [NotFound, Incomplete, UnexpectedAnswer].some((kind) => error instanceof kind);
}
