import { type Mirror, quote } from "../../mirror/index.js";
import { readAddedObjects, restoreAddedObjects } from "../../records/index.js";
import { campaignsOwing } from "./campaigns-owing.js";
import { commissionByHost } from "./commission-by-host.js";
import { contentByHost } from "./content-by-host.js";
import { hosts } from "./hosts.js";
import { hostsByMonth } from "./hosts-by-month.js";
import { lateRefunds } from "./late-refunds.js";
import { orderFigures } from "./order-figures.js";
import { ordersNet } from "./orders-net.js";
import { refundsByMonth } from "./refunds-by-month.js";
import { restatedOrders } from "./restated-orders.js";
import { restatements } from "./restatements.js";
import { rosterChanges } from "./roster-changes.js";
import { salesByDay } from "./sales-by-day.js";
import { salesByMonth } from "./sales-by-month.js";
import { selectOf, type View } from "./view.js";

export { selectOf, type View } from "./view.js";

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
export function viewsToMake({ db }: Mirror): View[] {
  const there = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !there.has(statement(view)));
}

/**
 * Creates the views that are missing or differ from this version's. Their tables must exist.
 * @returns a sentence for each trigger that somebody added and that no longer fits
 */
export function createViews(mirror: Mirror): string[] {
  return viewsToMake(mirror).flatMap((view) => {
    const added = readAddedObjects(mirror, [view.name]);
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${statement(view)}`);
    return restoreAddedObjects(mirror, added);
  });
}

function statement(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${selectOf(view)}`;
}
