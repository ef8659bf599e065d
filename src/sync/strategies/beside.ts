import { formatInstant } from "../../lib/times.js";
import {
  noteDetailed,
  noteOutdated,
  presentDetails,
  rememberShape,
  saysLess,
  shapeBefore,
} from "../../records/index.js";
import type { Resource } from "../../resources/types.js";
import { transactInParts } from "../former.js";
import { askEach, type Detailed } from "../in-order.js";
import { isImplausible, lossesOf } from "../removals.js";
import { openStore, type SyncRun } from "../run.js";
import { mayBeFirstPage, type Settled, settle, shapeText, withoutPages } from "../unknown-list.js";

/**
 * Details that are records of their own: a survey's results. They are removed where their parent is gone, or answers
 * completely and in the shape that it had, without them.
 * @param parents.due are asked; of what the `others` hold this run knows nothing
 */
export async function keepBeside(
  run: SyncRun,
  { due, others }: { due: readonly Detailed[]; others: readonly Detailed[] },
  path: (id: string) => string,
  { resource, parent }: { resource: Resource; parent: string },
): Promise<void> {
  const { mirror, options, shortfalls } = run;
  const store = openStore(run, resource, run.row, { coverage: [] });
  const held = presentDetails(mirror, resource.name, parent);
  const found = new Set<number>();
  /** Parents of which nothing says that they hold no more than was found. */
  const unsure = new Set(others.map(({ askBy }) => askBy));

  const pathOf = ({ askBy }: Detailed) => path(askBy ?? "");
  const goneOf = (id: string | null) =>
    unsure.has(id) ? [] : (held.get(id ?? "") ?? []).filter((detail) => !found.has(detail));
  const lacks = ({ askBy }: Detailed) => goneOf(askBy).length > 0;
  const askAll = (records: readonly Detailed[]) =>
    askEach(run, records, (record) => settle(run, resource, pathOf(record)), keep);

  function doubt({ askBy, id }: Detailed): void {
    unsure.add(askBy);
    mirror.transaction(() => noteOutdated(mirror, id));
  }

  function confess(record: Detailed, what: string): void {
    doubt(record);
    shortfalls.push(`${pathOf(record)}${what}`);
  }

  /** An answer without what was there before. */
  function distrust(record: Detailed, answer: string): void {
    if (!options.acceptRemovals && lacks(record))
      confess(record, `: the API answers ${answer}: nothing was removed (\`--accept-removals\`)`);
  }

  async function keep(settled: Settled, record: Detailed): Promise<void> {
    const { items, isAnswer, isWhole, askedAt, perPage, shape } = settled;
    let isCut = false;
    const from = pathOf(record);
    const keyPrefix = `${record.key}/`;
    const before = shapeBefore(mirror, from, resource.name, keyPrefix);
    const mayBeCut = mayBeFirstPage(run, settled, from);
    const isOther = before !== null && shape !== null && shape !== before;
    if (isOther && !options.acceptRemovals) {
      const what = `: ${shapeText(shape, before)}: nothing was`;
      if (saysLess(shape, before))
        return confess(record, `${what} written or removed (\`--accept-removals\`)`);
      confess(record, `${what} removed`);
    } else if (shape === null) distrust(record, "with nothing");
    if (!isWhole) confess(record, " moved while its pages were read, each time");
    const readAt = formatInstant(askedAt);
    const context = { [parent]: record.askBy };
    const write = function* () {
      const written = yield* store.write(items, { readAt, context, keyPrefix, isAnswer });
      for (const id of written.ids) found.add(id);
      isCut = mayBeCut && (held.get(record.askBy ?? "") ?? []).some((id) => !found.has(id));
      rememberShape(mirror, from, shape, isCut ? undefined : perPage);
      // What is left open is asked for again by the run that goes on, should this one not come to its end.
      if (!unsure.has(record.askBy) && !lacks(record)) noteDetailed(mirror, record.id, readAt);
    };
    await transactInParts(mirror, write(), run);
    if (isCut) distrust(record, withoutPages);
  }

  const lost = await askAll(due);
  const isAny = lost.length < due.length || others.some(({ askBy }) => askBy !== null);
  if (lost[0] && !isAny) {
    const said = `the API answers 404 for ${pathOf(lost[0])}, and for every other`;
    if (lost.some(lacks) && !options.acceptRemovals) shortfalls.push(said);
    else run.reporter.warn(`${run.resource.name}: ${said}: none has any`);
    if (!options.acceptRemovals) lost.filter(lacks).forEach(doubt);
  }
  for (const record of lost) distrust(record, "404");
  // Who is missing is looked for once more.
  for (const record of await askAll(due.filter(lacks))) distrust(record, "404");
  const gone = [...held.keys()].flatMap(goneOf);
  const losses = lossesOf(mirror, resource.name, gone, { by: run.resource.name });
  const refused = losses.find(({ removals, present }) => isImplausible(removals, present));
  if (refused && !options.acceptRemovals) {
    for (const record of due.filter(lacks)) doubt(record);
    shortfalls.push(
      `${refused.removals} of ${refused.present} results are no longer there: nothing was removed (\`--accept-removals\`)`,
    );
    return;
  }
  const emptied = due.filter(
    (record) => lacks(record) || (lost.includes(record) && !unsure.has(record.askBy)),
  );
  const remove = function* () {
    const at = formatInstant(run.clock.now());
    yield* store.remove(gone, at);
    for (const { id } of emptied) noteDetailed(mirror, id, at);
  };
  await transactInParts(mirror, remove(), run);
}
