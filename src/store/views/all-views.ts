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

/** All views, in the order in which `tables` lists them. */
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

/**
 * The names of amount columns in `orders` and the views. Their values are printed as money in results of a
 * user's SQL.
 */
export const amountNames: ReadonlySet<string> = new Set(
  [...tablesOf(orders), ...views]
    .flatMap(({ columns }) => columns)
    .filter(({ isAmount }) => isAmount)
    .map(({ name }) => name),
);

/** Returns the views that a mirror lacks, or that another version created. */
export function findOutdatedViews({ db }: Mirror): View[] {
  const existing = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !existing.has(createViewSql(view)));
}

/**
 * Creates missing and outdated views. The tables that they select from must exist.
 * @returns a message for each trigger of a user that no longer fits its view
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
