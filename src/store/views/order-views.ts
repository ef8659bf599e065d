import { amounts, columnsOf, figures, host, selectHost, selectOrderFigures, type View } from "./view.js";

export const orderFigures: View = {
  name: "order_figures",
  isHelper: true,
  about:
    "one row per order that the API still has, with what it adds to each figure; every other view of orders is a sum " +
    "of these; a cancelled order adds to `cancelled_orders` alone",
  columns: columnsOf(
    `id order_number order_date ordered_at day month currency ${figures} is_cancelled is_refunded attribution ${host} product_id product_title synced_at`,
  ),
  date: "ordered_at",
  rowId: "record_id",
  sql: `SELECT id, order_number, order_date, order_date_utc AS ordered_at, day, month, currency, ${selectOrderFigures},
      is_cancelled, is_refunded, attribution, ${selectHost("o.host_id")},
      product_id, product_title, synced_at, record_id
    FROM orders AS o`,
};

const columns = columnsOf(
  `id order_number order_date ordered_at day month currency ${amounts} is_cancelled is_refunded attribution ${host}`,
);

export const ordersNet: View = {
  name: "orders_net",
  about: "one row per order that counts (neither removed nor cancelled), with what is left after refunds",
  columns,
  date: "ordered_at",
  rowId: "record_id",
  sql: `SELECT ${columns.map(({ name }) => name).join(", ")}, record_id FROM order_figures WHERE orders = 1`,
};

/** A state that this version does not know counts as open. */
export const campaignsOwing: View = {
  name: "campaigns_owing",
  about:
    "one row per campaign that still owes or is owed something; open deliverables and assignments, payments that the " +
    "brand has not made, payments that hosts have earned and not received",
  columns: columnsOf(
    "id title status deadline is_overdue deliverables_open assignments_open payments_open payouts_open flat_fee",
    { id: "the campaign's id" },
  ),
  sql: `SELECT * FROM (
      SELECT o.id, o.title, o.status, o.deadline,
        coalesce(d.open > 0 AND coalesce(d.due, o.deadline) < (SELECT max(substr(started_at, 1, 10)) FROM sync_runs
          WHERE resource = 'opportunities' AND outcome = 'done'), 0) AS is_overdue,
        coalesce(d.open, 0) AS deliverables_open,
        total(a.status = 'ACTIVE') AS assignments_open,
        total(a.brand_payment_state NOT IN ('PAID', 'REFUNDED', 'NOT_INVOICED')
          OR (a.brand_payment_state = 'NOT_INVOICED' AND a.status = 'COMPLETED')) AS payments_open,
        total(a.athlete_payment_state NOT IN ('PAID', 'NOT_EARNED')) AS payouts_open,
        o.payment_flatFee AS flat_fee
      FROM opportunities AS o LEFT JOIN opportunity_assignments AS a ON a.opportunity_id = o.id
      LEFT JOIN (SELECT opportunity_id, count(*) AS open, min(due_date) AS due FROM opportunity_deliverables
        WHERE completed_at IS NULL GROUP BY opportunity_id) AS d
        ON d.opportunity_id = o.id AND o.status NOT IN ('DRAFT', 'READY', 'PROPOSED', 'DECLINED', 'ARCHIVED')
      GROUP BY o.id)
    WHERE deliverables_open + assignments_open + payments_open + payouts_open > 0 ORDER BY id`,
};
