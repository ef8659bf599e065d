import type { Answer } from "../../api/client.js";
import { UnexpectedAnswer } from "../../errors.js";
import { type Detailed, isPresent, readDetailed } from "../../records/read.js";
import type { ApiRecord, JsonObject } from "../../resources/types.js";
import { formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { eachAnswer } from "../each-answer.js";
import { openUnfinished, type Unfinished } from "../unfinished.js";
import { keepBeside } from "./beside.js";
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
    const all = readDetailed(context.mirror, context.resource.name);
    const { strategy } = context.resource;
    if (strategy.kind !== "detail") return;
    const unfinished = openUnfinished(
      context,
      all.filter((record) => isDue(context, record)),
    );
    if (strategy.into === "merge") await mergeDetails(context, unfinished, strategy.path);
    else await keepBeside(context, unfinished, strategy.path, strategy.into);
    unfinished.end();
  },
};

function isDue({ options, resource }: SyncContext, { pending, value }: Detailed): boolean {
  const { strategy } = resource;
  if (strategy.kind !== "detail" || options.details === "none") return false;
  return options.details === "all" || pending || strategy.open(value as JsonObject);
}

async function mergeDetails(
  context: SyncContext,
  { due, note }: Unfinished,
  path: (key: string) => string,
): Promise<void> {
  const { api, mirror, resource, run, shortfalls, signal, store } = context;
  const ask = ({ key }: Detailed) => api.get(path(key), {}, { scope: resource.scope, signal });
  function take(answer: Answer, { key }: Detailed): void {
    const record: ApiRecord = { json: answer.json, value: answer.data };
    if (store.keyOf(record, 0) !== key)
      throw new UnexpectedAnswer(`The API's answer to ${path(key)} is another record.`);
    mirror.db.transaction(() => {
      const written = store.write([record], { readAt: formatInstant(answer.receivedAt), isDetail: true });
      run.rows_changed += written.changed;
    })();
  }
  const lost = await eachAnswer(context, due, ask, take, note);
  if (lost.length === 0) return;
  // Gone since the list was read, or there without details: only the list can tell.
  if (shortfalls.length === 0) await readAll(context);
  const still = lost.filter(({ key }) => isPresent(mirror, resource.name, key));
  if (still.length > 0)
    shortfalls.push(
      `the API lists ${still.length === 1 ? still[0]?.key : `${still.length} ${resource.name}`}, but answers 404 for the details`,
    );
}
