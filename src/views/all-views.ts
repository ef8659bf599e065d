import { orders } from "../resources/orders.js";
import { listTableShapes } from "../resources/table-shape.js";
import { commissionByHost, contentByHost, hosts, hostsByMonth, rosterChanges } from "./host-views.js";
import { campaignsOwing, orderFigures, ordersNet } from "./order-views.js";
import {
  lateRefunds,
  refundsByMonth,
  restatedOrders,
  restatements,
  salesByDay,
  salesByMonth,
} from "./sales-views.js";
import type { View } from "./view.js";

/** All views. `tables` lists them in this order. */
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

/**
 * The names of the amount columns in `orders` and in all views. `query` marks columns with these names as amounts.
 */
export const amountNames: ReadonlySet<string> = new Set(
  [...listTableShapes(orders), ...views]
    .flatMap(({ columns }) => columns)
    .filter(({ isAmount }) => isAmount)
    .map(({ name }) => name),
);
