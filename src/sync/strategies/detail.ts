import { NotFound, UnexpectedAnswer } from "../../errors.js";
import { type Detailed, readDetailed } from "../../mirror/details.js";
import { isImplausible, presentIds } from "../../mirror/removals.js";
import type { ApiRecord, JsonObject, Resource } from "../../resources/types.js";
import { formatInstant } from "../../times.js";
import { openStore, type StrategyRun, type SyncContext } from "../context.js";
import { inOrder } from "../pool.js";
import { askUnknown } from "../unknown-list.js";
import { full, readAll } from "./full.js";

/** Every page of the list, then one request for each record whose details can have changed. */
export const detail: StrategyRun = {
  async plan(context) {
    const steps = await full.plan(context);
    const known = readDetailed(context.mirror, context.resource.name);
    const due = known.filter((record) => isDue(context, record)).length;
    const listed = Number(/\d+/.exec(steps[0]?.what ?? "")?.[0] ?? known.length);
    const unknown = context.options.details === "none" ? 0 : Math.max(0, listed - known.length);
    const details = {
      what: `details of ${due + unknown} that are new, changed or still open`,
      requests: due + unknown,
    };
    return due + unknown > 0 ? [...steps, details] : steps;
  },

  async run(context) {
    await readAll(context);
    const due = readDetailed(context.mirror, context.resource.name).filter((record) =>
      isDue(context, record),
    );
    const { strategy } = context.resource;
    if (strategy.kind !== "detail") return;
    if (strategy.into === "merge") await mergeDetails(context, due, strategy.path);
    else await keepBeside(context, due, strategy.path, strategy.into);
  },
};

function isDue({ options, resource }: SyncContext, { pending, value }: Detailed): boolean {
  const { strategy } = resource;
  if (strategy.kind !== "detail" || options.details === "none") return false;
  return options.details === "all" || pending || strategy.open(value as JsonObject);
}

async function mergeDetails(
  context: SyncContext,
  due: readonly Detailed[],
  path: (key: string) => string,
): Promise<void> {
  const { api, mirror, resource, run, signal, store } = context;
  const ask = (key: string) => api.get(path(key), {}, { scope: resource.scope, signal });
  await eachAnswer(context, due, ask, (answer, { key }) => {
    const record: ApiRecord = { json: answer.json, value: answer.data };
    if (store.keyOf(record, 0) !== key)
      throw new UnexpectedAnswer(`The API's answer to ${path(key)} is another record.`);
    mirror.db.transaction(() => {
      const written = store.write([record], { readAt: formatInstant(answer.receivedAt), isDetail: true });
      run.rows_changed += written.changed;
    })();
  });
}

/** Details that are records of their own: a survey's results. */
async function keepBeside(
  context: SyncContext,
  due: readonly Detailed[],
  path: (key: string) => string,
  into: { resource: Resource; parent: string },
): Promise<void> {
  const { mirror, run } = context;
  const store = openStore(context, into.resource, run.run_id);
  const found = new Set<number>();
  let complete = true;
  const ask = (key: string) => askUnknown(context, path(key));
  // What has no id of its own cannot be asked for.
  const asked = due.filter(({ key }) => !/^(#\d+|\.{0,2})$/.test(key));
  let answered = 0;
  await eachAnswer(context, asked, ask, ({ items, total, receivedAt }, { key }) => {
    answered += 1;
    if (total !== null && total !== items.length) complete = false;
    mirror.db.transaction(() => {
      const written = store.write(items, {
        readAt: formatInstant(receivedAt),
        context: { [into.parent]: key },
        keyPrefix: `${key}/`,
      });
      for (const id of written.ids) found.add(id);
      run.rows_read += items.length;
      run.rows_new += written.added;
      run.rows_changed += written.changed;
    })();
  });
  // A survey whose results were not found says nothing of those that are mirrored.
  if (answered < asked.length) return;
  if (!complete) context.shortfalls.push("some results moved while their pages were read");
  const { acceptRemovals, details } = context.options;
  if (details === "none" || !complete || (found.size === 0 && !acceptRemovals)) return;
  const known = presentIds(mirror, into.resource.name);
  const gone = known.filter((id) => !found.has(id));
  if (!acceptRemovals && isImplausible(gone.length, known.length)) {
    context.shortfalls.push(
      `${gone.length} of ${known.length} results are no longer there: nothing was removed (\`--accept-removals\`)`,
    );
    return;
  }
  mirror.db.transaction(() => {
    run.rows_removed += store.remove(gone, formatInstant(context.clock.now()));
  })();
}

/** Asks for the details of each record, a few at once. One that is gone meanwhile is left to the next list. */
async function eachAnswer<Answer>(
  context: SyncContext,
  due: readonly Detailed[],
  ask: (key: string) => Promise<Answer>,
  take: (answer: Answer, record: Detailed) => void,
): Promise<void> {
  const { progress, resource, task } = context;
  const total = progress.pages + due.length;
  await inOrder(
    due,
    async ({ key }) => {
      try {
        return await ask(key);
      } catch (error) {
        if (error instanceof NotFound) return null;
        throw error;
      }
    },
    (answer, record) => {
      progress.pages += 1;
      task.update({ done: progress.pages, total, rows: progress.rows });
      if (answer) take(answer, record);
      else context.reporter.note(`${resource.name}: ${record.key} was gone when its details were asked for`);
    },
  );
}
