import { whyNotWhole } from "../api/list.js";
import { Incomplete, RequestRefused } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import {
  hasId,
  perPageBefore,
  rememberShape,
  type Shape,
  saysLess,
  shapeBefore,
  shapeOf,
  valueAt,
} from "../records/index.js";
import type { Resource } from "../resources/types.js";
import { presentIds } from "../state/index.js";
import { keyOf, keysOf, transactInParts } from "./former.js";
import { type Gathered, gather, gatherWhole } from "./gather.js";
import { mostPerPage, type SyncRun } from "./run.js";
import type { Listed } from "./whole.js";

/**
 * Reads a list of which the API document shows neither parameters nor payload, until what is found agrees with its
 * total, where it has one.
 * @returns what was found; null when nothing may be removed because of it: the shortfalls say why
 * @throws Incomplete when something else answers than before, and nobody accepted it; nothing is written
 */
export async function readUnknownList(run: SyncRun): Promise<Listed | null> {
  const { mirror, options, resource, shortfalls, store } = run;
  const settled = await settle(run, resource, resource.path);
  const { shape, isAnswer, isWhole, items, askedAt, perPage, total } = settled;
  const before = shapeBefore(mirror, resource.path, resource.name);
  if (saysLess(shape, before) && !options.acceptRemovals)
    throw new Incomplete(`${resource.name}: ${shapeText(shape, before)}: nothing was written or removed.`, {
      hint: "if that is right, run the same command again with `--accept-removals`",
    });
  const found = new Set<number>();
  let isCut = false;
  const write = function* () {
    const written = yield* store.write(items, { readAt: formatInstant(askedAt), isAnswer });
    for (const id of written.ids) found.add(id);
    run.state.forgetMissing(found);
    isCut =
      mayBeFirstPage(run, settled, resource.path) &&
      presentIds(mirror, resource.name).some((id) => !found.has(id));
    rememberShape(mirror, resource.path, shape, isCut ? undefined : perPage);
  };
  await transactInParts(mirror, write(), run);
  if (!isWhole) shortfalls.push(`the list ${whyNotWhole({ found, total: total ?? found.size })}`);
  else if (isCut)
    shortfalls.push(`the API answers ${withoutPages}: nothing was removed (\`--accept-removals\`)`);
  else if (before === null || shape === null || shape === before || options.acceptRemovals)
    return { found, askedAt };
  else shortfalls.push(`${shapeText(shape, before)}: nothing was removed`);
  return null;
}

/** Whether what came without pages may be the first of those that a path had: it is a full one. */
export function mayBeFirstPage({ mirror, options }: SyncRun, settled: Settled, path: string): boolean {
  const before = perPageBefore(mirror, path);
  const isBare = settled.perPage === null && before !== null && !options.acceptRemovals;
  return isBare && settled.items.length >= before;
}

export const withoutPages = "without the pages that it had before, and without records that were on them";

export function shapeText(shape: Shape | null, before: Shape | null): string {
  return `the API answers with ${shape}, and before it was ${before}`;
}

/** Everything at a path, as far as it could be read. */
export type Settled = Awaited<ReturnType<typeof settle>>;

/** Asks for everything at a path until it agrees with its total, a bounded number of times. Nothing is written. */
export async function settle(run: SyncRun, resource: Resource, path: string) {
  const found = await gatherWhole(
    () => askUnknown(run, path),
    (record, at) => {
      const key = keyOf(resource, record, at);
      // A place tells nothing apart in a list that moves.
      return hasId(key) ? key : `#${record.json}`;
    },
  );
  const { isAnswer, isList, items } = found;
  const keys = isAnswer ? keysOf(resource, items) : items.map((item, at) => keyOf(resource, item, at));
  return { ...found, keys, shape: shapeOf(keys, isList) };
}

/**
 * Asks for all there is at a path whose shape is not documented. Parameters are strict, so the first request is bare;
 * only when `pagination` announces more are pages asked for, and a refused `per_page` is left out. Where
 * pages are refused altogether, the bare answer is all there is. An answer that is no list is one record.
 */
async function askUnknown(run: SyncRun, path: string): Promise<Gathered> {
  const { api, resource, row, signal } = run;
  const { data, items, json, pagination, askedAt } = await api.get(path, resource.query, {
    scope: resource.scope,
    signal,
  });
  const records = items ?? [{ json, value: data }];
  // One object that says of itself that there is more, as the retired feeds did: nobody knows how to ask for it.
  const isPart = items === null && valueAt(data, ["pagination", "has_next"]) === true;
  const total =
    pagination?.total_items ??
    (isPart ? Math.max(2, Number(valueAt(data, ["pagination", "total_items"])) || 0) : null);
  const perPage = pagination?.per_page ?? null;
  const isMore = pagination?.has_next || (pagination && pagination.total_items > records.length);
  for (const query of isMore ? [{ ...resource.query, per_page: mostPerPage }, resource.query] : [])
    try {
      return { ...(await gather(run, path, query)), perPage };
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
    }
  row.rows_read += records.length;
  const one = {
    answers: 1,
    fell: false,
    isList: items !== null,
    isAllThereIs: isMore === true,
    perPage,
  };
  return { ...one, items: records, pages: [], total, askedAt };
}
