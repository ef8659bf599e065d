import { AnswerRefused, type BrandapiError, Incomplete, NotFound, UnexpectedAnswer } from "../errors.js";
import { progressed, type SyncRun } from "./run.js";

/** Requests at once: the API's budget counts requests, not connections. */
const inFlight = 4;

/**
 * Does the work of each item, four at a time. An item whose answer is not as documented, or is not believed, keeps no
 * other out.
 * @returns the items that the API answered 404 for
 * @throws the first failure, after the other items
 */
export async function askEach<Item>(
  run: SyncRun,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Item[]> {
  const lost: Item[] = [];
  const failures: BrandapiError[] = [];
  let next = 0;
  async function takeTurns(): Promise<void> {
    for (let item = items[next++]; item !== undefined; item = items[next++])
      try {
        await work(item);
      } catch (error) {
        if (error instanceof NotFound) lost.push(item);
        else if (error instanceof Incomplete) failures.push(error);
        else if (error instanceof UnexpectedAnswer && !(error instanceof AnswerRefused)) failures.push(error);
        else {
          next = items.length;
          throw error;
        }
      } finally {
        progressed(run, 0, items.length - next);
      }
  }
  const turns = await Promise.allSettled(Array.from({ length: inFlight }, takeTurns));
  for (const turn of turns) if (turn.status === "rejected") throw turn.reason;
  if (failures[0]) throw failures[0];
  return lost;
}
