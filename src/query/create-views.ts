import { type Mirror, quote } from "../mirror/index.js";
import { selectOf, type View, views } from "./views/index.js";

/** Returns the views that are missing or differ from this version's. */
export function viewsToMake({ db }: Mirror): View[] {
  const there = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !there.has(statement(view)));
}

/** Creates these views. Their tables must exist. */
export function createViews(mirror: Mirror): void {
  for (const view of viewsToMake(mirror))
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${statement(view)}`);
}

function statement(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${selectOf(view)}`;
}
