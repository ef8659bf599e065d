import { isDeepStrictEqual } from "node:util";
import { readPages } from "../api/pages.js";
import { Incomplete, RequestRefused } from "../errors.js";
import { rememberShape, type Shape, saysLess, shapeBefore, shapeOf } from "../records/answer-shape.js";
import { hasId, keyOf, keysOf } from "../records/keys.js";
import type { ApiRecord, Query, Resource } from "../resources/types.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";
import type { Pass } from "./pass.js";
import { whyNotWhole } from "./reading.js";

const mostAttempts = 4;

/**
 * Reads a list of which the API document shows neither parameters nor payload, until what is found agrees with its
 * total, where it has one.
 * @returns what was found; null when nothing may be removed because of it: the shortfalls say why
 * @throws Incomplete when something else answers than before, and nobody accepted it; nothing is written
 */
export async function readUnknownList(context: SyncContext): Promise<Pass | null> {
  const { clock, mirror, options, progress, resource, run, shortfalls, store } = context;
  const startedAt = clock.now();
  const found = await settle(context, resource, resource.path);
  const before = shapeBefore(mirror, resource.path, resource.name);
  if (saysLess(found.shape, before) && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: ${shapeText(found.shape, before)}: nothing was written or removed.`,
      {
        hint: "if that is right, run the same command again with `--accept-removals`",
      },
    );
  const seen = new Map<number, null>();
  mirror.db.transaction(() => {
    const { items, isAnswer, receivedAt } = found;
    const written = store.write(items, { readAt: formatInstant(receivedAt), isAnswer });
    for (const id of written.ids) seen.set(id, null);
    run.rows_new += written.added;
    run.rows_changed += written.changed;
    rememberShape(mirror, resource.path, found.shape);
  })();
  progress.rows += found.items.length;
  const { total, answers } = found;
  const pages = { shrank: found.shrank, nextPage: answers + 1, totalPages: answers };
  const pass = {
    ...pages,
    seen,
    total: total ?? seen.size,
    oldest: Number.NaN,
    startedAt,
  };
  if (!found.isWhole) shortfalls.push(`the list ${whyNotWhole(pass)}`);
  else if (before === null || found.shape === null || found.shape === before || options.acceptRemovals)
    return pass;
  else shortfalls.push(`${shapeText(found.shape, before)}: nothing was removed`);
  return null;
}

export function shapeText(shape: Shape | null, before: Shape | null): string {
  return `the API answers with ${shape}, and before it was ${before}`;
}

/** Everything at a path, as far as it could be read. */
export interface Settled extends Unknown {
  /** Whether what was found agrees with the API's total. */
  isWhole: boolean;
  /** Whether the items are those of one answer, so that two of the same id are two records. */
  isAnswer: boolean;
  shape: Shape | null;
  /** The items' keys. */
  keys: readonly string[];
}

/** Asks for everything at a path until it agrees with its total, a bounded number of times. Nothing is written. */
export async function settle(context: SyncContext, resource: Resource, path: string): Promise<Settled> {
  const earlier = new Map<string, ApiRecord>();
  let before: readonly string[] | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const found = await askUnknown(context, path);
    context.run.rows_read += found.items.length;
    const texts = found.items.map(({ json }) => json);
    // A record that comes twice in two pages has moved between them, unless the list stands still.
    const isAnswer = found.answers === 1 || isDeepStrictEqual(texts, before);
    const keys = isAnswer
      ? keysOf(resource, found.items)
      : found.items.map((item, position) => keyOf(resource, item, position));
    const distinct = new Set(keys);
    const isWhole = distinct.size === (found.total ?? distinct.size) && !found.shrank;
    const shape = shapeOf(keys, found.isList);
    if (isWhole) return { ...found, isWhole, isAnswer, shape, keys };
    if (attempt === mostAttempts || found.isAllThereIs) {
      const others = [...earlier].filter(([key]) => !distinct.has(key));
      const items = [...found.items, ...others.map(([, item]) => item)];
      const all = [...keys, ...others.map(([key]) => key)];
      return { ...found, items, isWhole, isAnswer: false, shape, keys: all };
    }
    keys.forEach((key, index) => {
      const item = found.items[index];
      if (item && hasId(key)) earlier.set(key, item);
    });
    before = texts;
  }
}

/** Everything at a path; `total` is what the API counts there, null where it does not say. */
interface Unknown {
  items: readonly ApiRecord[];
  isList: boolean;
  total: number | null;
  /** How many answers it took: what comes in one is of one moment. */
  answers: number;
  /** Whether the API's count fell meanwhile: a record may then have slipped past, although the count agrees. */
  shrank: boolean;
  /** Milliseconds: when it was asked for. */
  receivedAt: number;
  /** Whether the API announces more and refuses to be asked for it: to ask again shows nothing else. */
  isAllThereIs?: boolean;
}

/**
 * Asks for all there is at a path whose shape is not documented. Parameters are strict, so the first request is bare;
 * only when `pagination` announces more are pages asked for, and a refused `per_page` is left out. Where
 * pages are refused altogether, the bare answer is all there is. An answer that is no list is one record.
 */
async function askUnknown(context: SyncContext, path: string): Promise<Unknown> {
  const { api, resource, signal } = context;
  const first = await api.get(path, resource.query, { scope: resource.scope, signal });
  const { pagination, receivedAt } = first;
  const isList = first.items !== null;
  const items = first.items ?? [{ json: first.json, value: first.data }];
  const total = pagination?.total_items ?? null;
  if (total === null || total <= items.length)
    return { items, isList, total, answers: 1, shrank: false, receivedAt };
  for (const query of [{ ...resource.query, per_page: 100 }, resource.query]) {
    try {
      return { ...(await readAllPages(context, path, query)), receivedAt };
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
    }
  }
  return { items, isList, total, answers: 1, shrank: false, receivedAt, isAllThereIs: true };
}

async function readAllPages({ api, resource, signal }: SyncContext, path: string, query: Query) {
  const items: ApiRecord[] = [];
  const list = { items, isList: true, total: 0, answers: 0, shrank: false };
  for await (const page of readPages(api, path, query, { scope: resource.scope, signal })) {
    items.push(...page.records);
    list.answers += 1;
    if (page.pagination.total_items < list.total) list.shrank = true;
    list.total = page.pagination.total_items;
  }
  return list;
}
