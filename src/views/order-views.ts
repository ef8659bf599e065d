import { amount, boolean, date, integer, text, timestamp } from "../resources/fields.js";
import {
  currencyColumn,
  dayColumn,
  hostColumns,
  hostColumnsSql,
  monthColumn,
  orderAmountColumns,
  orderColumns,
  orderFigureColumns,
  orderFiguresSql,
  type View,
} from "./view.js";

const orderedAtColumn = timestamp(
  "ordered_at",
  "`order_date` in UTC, comparable with `datetime('now', '-7 days')`",
);

export const orderFigures: View = {
  name: "order_figures",
  isHelper: true,
  about:
    "one row per order that the API still returns, with its contribution to each total; a cancelled order is included only in `cancelled_orders`; " +
    "the other order views sum these rows",
  columns: [
    ...orderColumns("id", "order_number", "order_date"),
    orderedAtColumn,
    dayColumn,
    monthColumn,
    currencyColumn,
    ...orderFigureColumns,
    ...orderColumns("is_cancelled", "is_refunded", "attribution"),
    ...hostColumns,
    ...orderColumns("product_id", "product_title"),
    timestamp("synced_at", "the time at which this version of the order was first read"),
  ],
  date: "ordered_at",
  rowId: "record_id",
  reads: ["host_names", "orders"],
  sql: `SELECT id, order_number, order_date, order_date_utc AS ordered_at, day, month, currency, ${orderFiguresSql},
      is_cancelled, is_refunded, attribution, ${hostColumnsSql("o.host_id")},
      product_id, product_title, synced_at, record_id
    FROM orders AS o`,
};

const netColumns = [
  ...orderColumns("id", "order_number", "order_date"),
  orderedAtColumn,
  dayColumn,
  monthColumn,
  currencyColumn,
  ...orderAmountColumns,
  ...orderColumns("is_cancelled", "is_refunded", "attribution"),
  ...hostColumns,
];

export const ordersNet: View = {
  name: "orders_net",
  about:
    "one row per order that is neither removed nor cancelled, with its net after refunds; null amounts count as 0",
  columns: netColumns,
  date: "ordered_at",
  rowId: "record_id",
  reads: ["host_names", "orders"],
  sql: `SELECT ${netColumns.map(({ name }) => name).join(", ")}, record_id FROM order_figures WHERE orders = 1`,
};

/** Payments and campaigns in an unknown state count as open. */
export const campaignsOwing: View = {
  name: "campaigns_owing",
  about:
    "one row per campaign that has open deliverables, open assignments, payments that the brand has not made, or payments that hosts have earned but not received",
  columns: [
    text("id", "the campaign's ID"),
    text("title"),
    text("status"),
    date("deadline"),
    boolean("is_overdue", "true if an open deliverable was due before the last campaign sync"),
    integer(
      "deliverables_open",
      "deliverables that were requested but not completed, if the campaign is running or has ended",
    ),
    integer("assignments_open", "assignments that hosts have accepted but not completed"),
    integer("payments_open", "assignments that the brand has not paid yet"),
    integer("payouts_open", "assignments with a payment that the host has earned but not received"),
    amount("flat_fee", "the campaign's fixed fee per host, excluding commission and bonuses"),
  ],
  reads: ["opportunities", "opportunity_assignments", "opportunity_deliverables", "sync_runs"],
  sql: `SELECT * FROM (
      SELECT opportunities.id, opportunities.title, opportunities.status, opportunities.deadline,
        coalesce(deliverables.open > 0 AND coalesce(deliverables.due, opportunities.deadline) < (
          SELECT max(substr(started_at, 1, 10)) FROM sync_runs
          WHERE resource = 'opportunities' AND outcome = 'done'), 0) AS is_overdue,
        coalesce(deliverables.open, 0) AS deliverables_open,
        total(assignments.status = 'ACTIVE') AS assignments_open,
        total(assignments.brand_payment_state NOT IN ('PAID', 'REFUNDED', 'NOT_INVOICED')
          OR (assignments.brand_payment_state = 'NOT_INVOICED' AND assignments.status = 'COMPLETED')) AS payments_open,
        total(assignments.athlete_payment_state NOT IN ('PAID', 'NOT_EARNED')) AS payouts_open,
        opportunities.payment_flatFee AS flat_fee
      FROM opportunities
      LEFT JOIN opportunity_assignments AS assignments ON assignments.opportunity_id = opportunities.id
      LEFT JOIN (SELECT opportunity_id, count(*) AS open, min(due_date) AS due FROM opportunity_deliverables
        WHERE completed_at IS NULL GROUP BY opportunity_id) AS deliverables
        ON deliverables.opportunity_id = opportunities.id
          AND opportunities.status NOT IN ('DRAFT', 'READY', 'PROPOSED', 'DECLINED', 'ARCHIVED')
      GROUP BY opportunities.id)
    WHERE deliverables_open + assignments_open + payments_open + payouts_open > 0 ORDER BY id`,
};
