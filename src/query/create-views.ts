import { type Mirror, quote } from "../mirror/index.js";
import { selectOf, type View, views } from "./views/index.js";

/** Returns the names of the views that are missing or differ from this version's. */
export function viewsToMake(mirror: Mirror): string[] {
  return differing(mirror).map(({ name }) => name);
}

/** Creates the views that are missing or differ from this version's. Their tables must exist. */
export function createViews(mirror: Mirror): void {
  for (const view of differing(mirror))
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${statement(view)}`);
}

function differing({ db }: Mirror): View[] {
  const select = db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck();
  const there = new Set(select.all());
  return views.filter((view) => !there.has(statement(view)));
}

function statement(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${selectOf(view)}`;
}
