import { orders } from "../../resources/orders.js";
import { tablesOf } from "../../resources/table-shape.js";
import type { Mirror } from "../mirror/database.js";
import { quote } from "../tables/table-sql.js";
import { readUserObjects, restoreUserObjects } from "../tables/user-objects.js";
import { commissionByHost, contentByHost, hosts, hostsByMonth, rosterChanges } from "./host-views.js";
import { campaignsOwing, ordersNet, singleOrderFigures } from "./order-views.js";
import { lateRefunds, restatedOrders, restatements } from "./restatement-views.js";
import { refundsByMonth, salesByDay, salesByMonth } from "./sales-views.js";
import { type View, viewQuery } from "./view.js";

/** All views, in the order used by `tables`. */
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
  singleOrderFigures,
];

/** The names of the amount columns in `orders` and the views. `query` prints their values as money. */
export const amountNames: ReadonlySet<string> = new Set(
  [...tablesOf(orders), ...views]
    .flatMap(({ columns }) => columns)
    .filter(({ isAmount }) => isAmount)
    .map(({ name }) => name),
);

/** Returns the views that are missing from a mirror or were created by another version. */
export function findOutdatedViews({ db }: Mirror): View[] {
  const existing = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !existing.has(createViewSql(view)));
}

/**
 * Creates missing and outdated views. The tables they select from must exist.
 * @returns a message for each user-defined trigger that is no longer valid
 */
export function createViews(mirror: Mirror): string[] {
  return findOutdatedViews(mirror).flatMap((view) => {
    const added = readUserObjects(mirror, [view.name]);
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${createViewSql(view)}`);
    return restoreUserObjects(mirror, added);
  });
}

function createViewSql(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${viewQuery(view)}`;
}
