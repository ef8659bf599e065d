import { readAddedObjects, restoreAddedObjects } from "../added-objects.js";
import type { Mirror } from "../database.js";
import { quote } from "../table-sql.js";
import { commissionByHost, contentByHost, hosts, hostsByMonth, rosterChanges } from "./host-views.js";
import { campaignsOwing, orderFigures, ordersNet } from "./order-views.js";
import { lateRefunds, restatedOrders, restatements } from "./restatement-views.js";
import { refundsByMonth, salesByDay, salesByMonth } from "./sales-views.js";
import { type View, viewQuery } from "./view.js";

/** The views, in the order in which `tables` lists them. */
export const views: readonly View[] = [
  salesByMonth,
  salesByDay,
  restatements,
  restatedOrders,
  refundsByMonth,
  lateRefunds,
  hostsByMonth,
  hosts,
  commissionByHost,
  rosterChanges,
  contentByHost,
  campaignsOwing,
  ordersNet,
  orderFigures,
];

/** Returns the views that are missing or differ from this version's. */
export function findOutdatedViews({ db }: Mirror): View[] {
  const there = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !there.has(statement(view)));
}

/**
 * Creates the views that are missing or differ from this version's. Their tables must exist.
 * @returns a sentence for each trigger that somebody added and that no longer fits
 */
export function createViews(mirror: Mirror): string[] {
  return findOutdatedViews(mirror).flatMap((view) => {
    const added = readAddedObjects(mirror, [view.name]);
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${statement(view)}`);
    return restoreAddedObjects(mirror, added);
  });
}

function statement(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${viewQuery(view)}`;
}
