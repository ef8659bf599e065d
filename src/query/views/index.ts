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
import type { View } from "./view.js";

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
