import { NotFound } from "../errors.js";
import type { Detailed } from "../records/read.js";
import type { SyncContext } from "./context.js";
import { inOrder } from "./pool.js";

/**
 * Asks for the details of each record, a few at once.
 * @param note is told of each that is done with
 * @returns the records whose details are not there: gone meanwhile, perhaps
 */
export async function eachAnswer<Answer>(
  context: Pick<SyncContext, "progress" | "reporter" | "resource" | "task">,
  due: readonly Detailed[],
  ask: (record: Detailed) => Promise<Answer>,
  take: (answer: Answer, record: Detailed) => void,
  note: (record: Detailed) => void = () => {},
): Promise<Detailed[]> {
  const { progress, resource, task } = context;
  const total = progress.pages + due.length;
  const lost: Detailed[] = [];
  // Before the first answer, which may wait for the rate limit: the list alone is not all of it.
  task.update({ done: progress.pages, total, rows: progress.rows });
  await inOrder(
    due,
    async (record) => {
      try {
        return await ask(record);
      } catch (error) {
        if (error instanceof NotFound) return null;
        throw error;
      }
    },
    (answer, record) => {
      progress.pages += 1;
      task.update({ done: progress.pages, total, rows: progress.rows });
      if (answer) take(answer, record);
      else {
        lost.push(record);
        context.reporter.note(`${resource.name}: ${record.key} was gone when its details were asked for`);
      }
      note(record);
    },
  );
  return lost;
}
