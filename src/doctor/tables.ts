import { Incomplete } from "../errors.js";
import type { Mirror } from "../mirror/index.js";
import { syncedBy, typedTables, viewsToMake, withSnapshot } from "../query/index.js";
import { compareTables, differenceText, type TableDifference } from "../records/index.js";
import { details, resources } from "../resources/index.js";
import { Advice, type Check, found, ok } from "./check.js";

/** The tables that people query, row by row against the records that they are made from. */
export const tables: Check = {
  name: "tables",
  async *run({ deps, mirror }) {
    const open = await mirror();
    const compare = async () => compareTables(open, [...resources, ...details]);
    const differences = await withSnapshot(open, () => deps.killable(compare));
    for (const [resource, theirs] of byResource(differences))
      yield found(
        new Incomplete(`Tables differ from the mirror's records: ${theirs.map(inWords).join("; ")}.`, {
          hint: `run \`brandapi verify ${resource} --repair\``,
        }),
      );
    yield* missing(open);
    if (differences.length === 0) yield ok(`all ${typedTables().length} say what the mirror's records say`);
  },
};

/** What the next run that writes makes anew by itself. */
function* missing(mirror: Mirror) {
  const views = viewsToMake(mirror);
  if (views.length > 0)
    yield found(
      new Advice(`Views are gone, or not as this version makes them: ${views.join(", ")}.`, {
        hint: "run `brandapi status`: it makes them anew",
      }),
    );
}

/** Each with the resource whose `verify` mends it. */
function byResource(differences: readonly TableDifference[]): Map<string, TableDifference[]> {
  const found = new Map<string, TableDifference[]>();
  for (const one of differences) {
    const shape = typedTables().find(({ name }) => name === one.table);
    const name = shape ? syncedBy(shape.resource).name : "";
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return found;
}

function inWords(difference: TableDifference): string {
  return `${difference.table}: ${differenceText(difference)}`;
}
