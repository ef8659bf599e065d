import {
  type Detailed,
  idText,
  noteDetailed,
  presentDetails,
  type RecordStore,
  rememberShape,
  saysLess,
  shapeBefore,
} from "../../records/index.js";
import type { Resource } from "../../resources/types.js";
import { formatInstant } from "../../times.js";
import { askEach } from "../ask.js";
import { isImplausible } from "../removals.js";
import type { SyncRun } from "../run.js";
import { openStore } from "../run.js";
import { type Settled, settle, shapeText } from "../unknown-list.js";

/** Where details go that are records of their own, and what is found of them. */
interface Beside {
  run: SyncRun;
  resource: Resource;
  parent: string;
  store: RecordStore;
  found: Set<number>;
  /** Parents whose answer says nothing of the details that are mirrored. */
  undecided: Set<string>;
  /** Parents whose details came in pages, which are of several moments. */
  paged: Map<string, Detailed>;
}

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
  const { row, options, shortfalls } = run;
  const beside: Beside = {
    run,
    resource,
    parent,
    store: openStore(run, resource, row.run_id, []),
    found: new Set(),
    undecided: new Set(),
    paged: new Map(),
  };
  const pathOf = (record: Detailed) => path(idOf(beside, record) ?? "");
  const ask = (record: Detailed) => settle(run, resource, pathOf(record));
  const asked = due.filter((record) => idOf(beside, record) !== null);
  if (asked.length < due.length)
    run.reporter.note(
      `${run.resource.name}: ${due.length - asked.length} have no id that more could be asked by`,
    );
  const take = (settled: Settled, record: Detailed) => keep(beside, settled, record, pathOf(record));
  const lost = await askEach(run, asked, ask, take);
  // A stopped run's answers stay as they are: of what they held no more this run knows nothing.
  for (const record of [...lost, ...fresh]) beside.undecided.add(idOf(beside, record) ?? "");
  if (asked.length > 0 && fresh.length === 0 && lost.length === asked.length)
    shortfalls.push(`the API answers 404 for ${pathOf(asked[0] as Detailed)}, and for every other`);
  if (options.details === "none" || (beside.found.size === 0 && !options.acceptRemovals)) return;
  const again = [...beside.paged].filter(([id]) => missing(beside).some((one) => one.parent === id));
  await askEach(
    run,
    again.map(([, record]) => record),
    ask,
    take,
  );
  removeGone(beside);
}

/** A record's id, where something can be asked by it: `.` and `..` would lead elsewhere, half a character nowhere. */
function idOf({ run }: Beside, record: Detailed): string | null {
  const id = idText(run.resource, record);
  return id === null || /^\.{0,2}$/.test(id) || !id.isWellFormed() ? null : id;
}

function keep(beside: Beside, settled: Settled, record: Detailed, path: string): void {
  const { run, resource, parent, store, found, undecided, paged } = beside;
  const { mirror, row, shortfalls, options } = run;
  const id = idOf(beside, record) ?? "";
  const keyPrefix = `${record.key}/`;
  const before = shapeBefore(mirror, path, resource.name, keyPrefix);
  const isOther = before !== null && settled.shape !== null && settled.shape !== before;
  const isEmptied = settled.shape === null && missing(beside).some((one) => one.parent === id);
  if (!options.acceptRemovals && (isOther || isEmptied)) {
    undecided.add(id);
    const isLess = saysLess(settled.shape, before);
    const what = isEmptied ? "the API answers with nothing" : shapeText(settled.shape, before);
    shortfalls.push(
      `${path}: ${what}: nothing was ${isLess ? "written or " : ""}removed${isLess || isEmptied ? " (`--accept-removals`)" : ""}`,
    );
    if (isLess) return;
  }
  if (!settled.isWhole) {
    undecided.add(id);
    shortfalls.push(`${path} moved while its pages were read, each time`);
  }
  if (settled.answers > 1) paged.set(id, record);
  const { items, isAnswer, receivedAt } = settled;
  mirror.db.transaction(() => {
    const written = store.write(items, {
      readAt: formatInstant(receivedAt),
      context: { [parent]: id },
      keyPrefix,
      isAnswer,
    });
    for (const one of written.ids) found.add(one);
    row.rows_new += written.added;
    row.rows_changed += written.changed;
    rememberShape(mirror, path, settled.shape);
    noteDetailed(mirror, record.id, formatInstant(receivedAt));
  })();
}

/** The mirrored details that were not found, and can be decided. */
function missing({ run, resource, parent, found, undecided }: Beside): { id: number; parent: string }[] {
  return [...presentDetails(run.mirror, resource.name, parent)]
    .filter(([id, of]) => !found.has(id) && !undecided.has(of))
    .map(([id, of]) => ({ id, parent: of }));
}

function removeGone(beside: Beside): void {
  const { run, resource, parent, store } = beside;
  const { mirror, row, options, shortfalls } = run;
  const known = presentDetails(mirror, resource.name, parent).size;
  const gone = missing(beside).map(({ id }) => id);
  if (!options.acceptRemovals && isImplausible(gone.length, known)) {
    shortfalls.push(
      `${gone.length} of ${known} results are no longer there: nothing was removed (\`--accept-removals\`)`,
    );
    return;
  }
  mirror.db.transaction(() => {
    row.rows_removed += store.remove(gone, formatInstant(run.clock.now()));
  })();
}
