import { transactInParts } from "../../mirror/index.js";
import { noteDetailed, presentDetails, rememberShape, saysLess, shapeBefore } from "../../records/index.js";
import type { Resource } from "../../resources/types.js";
import { formatInstant } from "../../times.js";
import { askEach, type Detailed } from "../in-order.js";
import { isImplausible } from "../removals.js";
import { openStore, type SyncRun } from "../run.js";
import { type Settled, settle, shapeText } from "../unknown-list.js";

/**
 * Details that are records of their own: a survey's results. They are removed where their parent is gone, or answers
 * completely and in the shape that it had, without them.
 */
export async function keepBeside(
  run: SyncRun,
  { due, fresh }: { due: readonly Detailed[]; fresh: readonly Detailed[] },
  path: (id: string) => string,
  { resource, parent }: { resource: Resource; parent: string },
): Promise<void> {
  const { mirror, options, shortfalls } = run;
  const store = openStore(run, resource, run.row, []);
  /** The mirrored details that were not found, and whose they are: less those that an answer says nothing of. */
  const gone = presentDetails(mirror, resource.name, parent);
  /** Parents whose details came in pages, which are of several moments. */
  const paged = new Map<string, Detailed>();

  const pathOf = ({ askBy }: Detailed) => path(askBy ?? "");
  const isMissed = (id: string) => [...gone.values()].includes(id);
  const askAll = (records: readonly Detailed[]) =>
    askEach(run, records, (record) => settle(run, resource, pathOf(record)), keep);

  function leave(id: string | null): void {
    for (const [detail, of] of gone) if (of === id) gone.delete(detail);
  }

  async function keep(settled: Settled, record: Detailed): Promise<void> {
    const { answers, items, isAnswer, isWhole, askedAt, shape } = settled;
    const id = record.askBy ?? "";
    const from = pathOf(record);
    const keyPrefix = `${record.key}/`;
    const before = shapeBefore(mirror, from, resource.name, keyPrefix);
    const isOther = before !== null && shape !== null && shape !== before;
    const isEmptied = shape === null && isMissed(id);
    const isDoubtful = !options.acceptRemovals && (isOther || isEmptied);
    if (isDoubtful) {
      leave(id);
      const isLess = saysLess(shape, before);
      const what = isEmptied ? "the API answers with nothing" : shapeText(shape, before);
      const done = isLess ? "written or removed" : "removed";
      shortfalls.push(
        `${from}: ${what}: nothing was ${done}${isLess || isEmptied ? " (`--accept-removals`)" : ""}`,
      );
      if (isLess) return;
    }
    if (!isWhole) {
      leave(id);
      shortfalls.push(`${from} moved while its pages were read, each time`);
    }
    if (answers > 1) paged.set(id, record);
    const readAt = formatInstant(askedAt);
    const write = function* () {
      const written = yield* store.write(items, { readAt, context: { [parent]: id }, keyPrefix, isAnswer });
      for (const one of written.ids) gone.delete(one);
      rememberShape(mirror, from, shape);
      // What is left open is asked for again by the run that goes on, should this one not come to its end.
      if (isWhole && !isDoubtful && !isMissed(id)) noteDetailed(mirror, record.id, readAt);
    };
    await transactInParts(mirror, write(), run);
  }

  function* remove() {
    const at = formatInstant(run.clock.now());
    const lacking = new Set<string | null>(gone.values());
    yield* store.remove(gone.keys(), at);
    for (const { id, askBy } of due) if (lacking.has(askBy)) noteDetailed(mirror, id, at);
  }

  const lost = await askAll(due);
  // A stopped run's answers stay as they are: of what they held no more this run knows nothing.
  for (const { askBy } of fresh) leave(askBy);
  const isNone = fresh.length === 0 && lost.length === due.length;
  if (lost[0] && isNone) shortfalls.push(`the API answers 404 for ${pathOf(lost[0])}, and for every other`);
  mirror.transaction(() => {
    for (const record of lost) {
      if (isNone) leave(record.askBy);
      else if (!isMissed(record.askBy ?? "")) noteDetailed(mirror, record.id, formatInstant(run.clock.now()));
      else if (!options.acceptRemovals) {
        leave(record.askBy);
        shortfalls.push(
          `${pathOf(record)}: the API answers 404: nothing was removed (\`--accept-removals\`)`,
        );
      }
    }
  });
  if (options.details === "none") return;
  await askAll([...paged].filter(([id]) => isMissed(id)).map(([, record]) => record));
  const known = presentDetails(mirror, resource.name, parent).size;
  if (options.acceptRemovals || !isImplausible(gone.size, known))
    await transactInParts(mirror, remove(), run);
  else
    shortfalls.push(
      `${gone.size} of ${known} results are no longer there: nothing was removed (\`--accept-removals\`)`,
    );
}
