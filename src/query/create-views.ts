import { type Mirror, quote } from "../mirror/index.js";
import { retired, selectOf, type View, views } from "./views/index.js";

/** True if the mirror's views are those of this version. */
export function areViewsCurrent(mirror: Mirror): boolean {
  return viewsToMake(mirror).length === 0;
}

/** Returns the names of the views that differ from this version's, or that it no longer has. */
export function viewsToMake(mirror: Mirror): string[] {
  const there = viewsOf(mirror);
  const changed = views.filter((view) => there.get(view.name) !== statement(view));
  return [...changed.map(({ name }) => name), ...retired.filter((name) => there.has(name))];
}

/** Creates the views that are missing or differ from this version's. Their tables must exist. */
export function createViews(mirror: Mirror): void {
  const there = viewsOf(mirror);
  const drop = (name: string) => there.size > 0 && mirror.db.exec(`DROP VIEW IF EXISTS ${quote(name)}`);
  for (const name of retired) drop(name);
  for (const view of views) {
    if (there.get(view.name) === statement(view)) continue;
    drop(view.name);
    mirror.db.exec(statement(view));
  }
}

function viewsOf({ db }: Mirror): Map<string, string> {
  const select = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'view'").raw();
  return new Map(select.all() as [string, string][]);
}

function statement(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${selectOf(view)}`;
}
