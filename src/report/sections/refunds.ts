import { counted } from "../../lib/counted.js";
import type { RestatedOrder, Restatement } from "../../query/index.js";
import { outlookChart } from "../charts/still-to-come.js";
import { of } from "../figures.js";
import { type Html, html, name } from "../html.js";
import { monthsBetween, type Outlook, type YoungMonth } from "../outlook.js";
import { pageTable, sourceLine } from "../page-table.js";
import { dayName, monthName, shortMonth } from "../period.js";
import { key, section, type Telling } from "../section.js";
import { currencyName, whatHappened } from "../words.js";

/** What months that were reported already are now, and the orders that did it. */
export function restatedSection({ report, numbers }: Telling): Html {
  const { months, orders } = report.restated;
  const money = (value: number, currency: string | null) => numbers.amount(value, currency);
  if (months.length === 0)
    return section(
      "restated",
      "Restated",
      "",
      html`<p>No month since ${monthName(report.restated.since)} is another than when it was reported.</p>\n`,
    );
  const table = pageTable<Restatement>(
    "Months that are another now",
    [
      { title: "Month", cell: ({ month }) => shortMonth(month), kind: "short" },
      { title: "Currency", cell: ({ currency }) => currencyName(currency) },
      { title: "Reported", cell: ({ reported_at }) => dayName(reported_at), kind: "short", spare: true },
      {
        title: "Net then",
        cell: (row) => money(row.net_reported, row.currency),
        kind: "number",
        spare: true,
      },
      { title: "Net now", cell: (row) => money(row.net_now, row.currency), kind: "number" },
      {
        title: "Difference",
        cell: (row) => html`<b>${numbers.signed(row.difference, row.currency)}</b>`,
        kind: "number",
      },
      { title: "Orders", cell: (row) => numbers.count(row.orders), kind: "number", spare: true },
    ],
    months.toReversed(),
    { source: "restatements" },
  );
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const named = pageTable<RestatedOrder>(
    orders.length < all
      ? `The ${orders.length} orders that did most of it, of ${numbers.count(all)}`
      : "The orders that did it",
    [
      { title: "Order", cell: ({ order_number, order_id }) => name(order_number ?? order_id, "no number") },
      { title: "Month", cell: ({ month }) => shortMonth(month), kind: "short" },
      { title: "Currency", cell: ({ currency }) => currencyName(currency), spare: true },
      { title: "What", cell: ({ what }) => whatHappened[what] ?? what, kind: "short" },
      { title: "Seen", cell: ({ seen_at }) => dayName(seen_at), kind: "short", spare: true },
      { title: "Host", cell: ({ host_username }) => name(host_username, "no host"), spare: true },
      { title: "Difference", cell: (row) => numbers.signed(row.difference, row.currency), kind: "number" },
    ],
    orders,
    { source: "restated_orders" },
  );
  const lead =
    "Months that were reported, and are another now: an order that came late, was refunded or was cancelled since.";
  return section("restated", "Restated", lead, [table, named]);
}

/** When refunds come, and what is still to come. */
export function refundsSection(telling: Telling): Html {
  const { report } = telling;
  const since = report.outlook[0]?.watched_since ?? null;
  const lead =
    since === null
      ? "No month was read to its end yet."
      : `What this mirror saw refunded since ${dayName(since)}, by month of order and age of refund.`;
  return section("refunds", "Refunds, and what is still to come", lead, [
    report.currencies.map((currency) => triangle(telling, currency)),
    html`<p class="note">The API gives no date of a refund: each stands in the month in which it was first seen, the end of the interval in which it came. What was refunded before this mirror first read an order is not in the triangle.</p>\n`,
    sourceLine("late_refunds"),
    report.outlook.every(({ why_none: why }) => why !== null)
      ? html`<h3>Still to come</h3>\n<p>Nothing is predicted: ${report.outlook[0]?.why_none ?? "there is nothing"}.</p>\n`
      : report.outlook.map((one) => outlook(telling, one)),
  ]);
}

function triangle({ report, numbers }: Telling, currency: string | null): Html {
  const cells = of(report.triangle, currency);
  if (cells.length === 0) return html``;
  const since = report.outlook[0]?.watched_since ?? report.reached;
  const months = [...new Set(of(report.months, currency).map(({ month }) => month))].filter(
    (month) => month <= report.reached.slice(0, 7),
  );
  const shown = months.filter((month) => cells.some((cell) => cell.month === month)).toReversed();
  const ages = Array.from(
    { length: Math.max(...cells.map(({ age_months }) => age_months)) + 1 },
    (_, age) => age,
  );
  const most = Math.max(...cells.map(({ refunded_amount }) => refunded_amount));
  const cellAt = (month: string, age: number) => {
    const found = cells.find((cell) => cell.month === month && cell.age_months === age);
    const isKnown = age <= monthsBetween(month, report.reached) && age >= monthsBetween(month, since);
    if (!found) return html`<td class="n">${isKnown ? numbers.count(0) : ""}</td>`;
    const shade = Math.ceil((4 * Math.max(0, found.refunded_amount)) / most);
    return html`<td class="n heat${shade}">${numbers.amount(found.refunded_amount, currency)}</td>`;
  };
  return html`<h3>Seen to be refunded, ${currencyName(currency)}</h3>
<div class="scroll" tabindex="0" role="region" aria-label="Refund triangle, ${currencyName(currency)}">
<table class="triangle"><caption class="unseen">Refunded amount by month of order and age of the refund in months, ${currencyName(currency)}</caption>
<thead><tr><th scope="col">Month of order</th>${ages.map((age) => html`<th scope="col" class="n">${age === 0 ? "same month" : `${counted(age, "month")}${age === 1 ? " on" : ""}`}</th>`)}</tr></thead>
<tbody>
${shown.map((month) => html`<tr><th scope="row">${shortMonth(month)}</th>${ages.map((age) => cellAt(month, age))}</tr>\n`)}</tbody>
</table></div>
`;
}

function outlook(telling: Telling, one: Outlook): Html {
  const { numbers, draw } = telling;
  const { currency, why_none: why, through, horizon } = one;
  const title = html`<h3>Still to come, ${currencyName(currency)}</h3>`;
  if (why !== null) return html`${title}\n<p>Nothing is predicted: ${why}.</p>\n`;
  const write = (value: number | null) => (value === null ? "unknown" : numbers.amount(value, currency));
  const table = pageTable<YoungMonth>(
    `Still to be refunded, ${currencyName(currency)}`,
    [
      { title: "Month of order", cell: ({ month }) => shortMonth(month) },
      { title: "Refunded", cell: ({ refunded }) => write(refunded), kind: "number" },
      { title: "Still to come", cell: ({ to_come }) => write(to_come), kind: "number" },
      {
        title: "Give or take",
        cell: (row) =>
          row.standard_error === null ? "" : `± ${numbers.amount(row.standard_error, currency)}`,
        kind: "number",
      },
    ],
    one.months.toReversed(),
    { hideCaption: true },
  );
  const end = monthName(through ?? "");
  return html`<figure>
<figcaption>${title}</figcaption>
<p>Of the orders placed through ${end}, refunds of <b>${write(one.to_come)}</b> are still to be expected, give or take ${write(one.standard_error)}.</p>
${key(["tall", "refunded"], ["tint", "still to come, and how far that can be off"])}<div class="pair"><div>${draw(outlookChart(telling, one))}</div><div>${table}</div></div>
<p class="note">By chain ladder, with Mack's standard error: how refunds of earlier months grew from one age to the next, over ${counted(horizon, "month")}; later ones are not in it. Counted from the end of ${end}.</p></figure>
`;
}
