import { counted } from "../../lib/counted.js";
import type { DayFigures, Figures } from "../../query/index.js";
import { byDayChart } from "../charts/by-day.js";
import { byMonthChart } from "../charts/by-month.js";
import { currenciesNow, of, type Report } from "../figures.js";
import { type Html, html, ticked } from "../html.js";
import { pageTable, sourceLine } from "../page-table.js";
import { dayName, shortMonth } from "../period.js";
import { behind, key, section, type Telling } from "../section.js";
import { comparison, currencyName, noDays, noOrder } from "../words.js";

/** Orders, gross, refunds, net: a line a currency. */
export function salesSection(telling: Telling): Html {
  const { report } = telling;
  const lines = currenciesNow(report).map((currency) => headline(telling, currency));
  const none = html`<p>${noOrder(report)}</p>\n`;
  return section("sales", "Sales", comparison(report), [
    lines.length === 0 ? none : lines,
    sourceLine(
      "sales_by_day",
      report.currencies_untold > 0 ? counted(report.currencies_untold, "currency") : "",
    ),
  ]);
}

function headline({ report, numbers }: Telling, currency: string | null): Html {
  const [now] = of(report.sales.now, currency);
  const [before] = of(report.sales.before, currency);
  const metric = (title: string, value: (figures: Figures) => number, isCount = false) => {
    const write = (one: number) => (isCount ? numbers.count(one) : numbers.amount(one, currency));
    const current = now ? value(now) : 0;
    const change = before ? numbers.change(current, value(before)) : "";
    const then = report.period.before.is_read ? `${write(before ? value(before) : 0)} before` : "";
    return html`<div><dt>${title}</dt><dd><b>${write(current)}</b>
<span>${change === "" ? "" : html`<em>${change}</em> `}<span class="whole">${then}</span></span></dd></div>
`;
  };
  const { cancelled_orders: cancelled = 0, orders_without_total: without = 0 } = now ?? {};
  const notes = [
    ...(cancelled > 0
      ? [`${counted(cancelled, "cancelled order", numbers.count)} beside them, in no figure.`]
      : []),
    ...(without > 0
      ? [`${counted(without, "order", numbers.count)} without a total, adding nothing to gross and net.`]
      : []),
  ];
  return html`<div class="money">
<h3>${currencyName(currency)}</h3>
<dl class="metrics">
${metric("Net", ({ net_amount }) => net_amount)}${metric("Gross", ({ gross_amount }) => gross_amount)}${metric("Refunds", ({ refunded_amount }) => refunded_amount)}${metric("Orders", ({ orders }) => orders, true)}</dl>
${
  notes.length === 0
    ? ""
    : html`<p class="note">${notes.join(" ")}</p>
`
}</div>
`;
}

export function daysSection(telling: Telling): Html {
  const { report, numbers, draw } = telling;
  const figures = report.currencies.flatMap((currency) => {
    const now = of(report.days.now, currency);
    const before = of(report.days.before, currency);
    if (now.length + before.length === 0) return [];
    const write = (value: number) => numbers.amount(value, currency);
    const table = pageTable<DayFigures>(
      `By day, ${currencyName(currency)}`,
      [
        { title: "Day", cell: ({ day }) => dayName(day) },
        { title: "Orders", cell: ({ orders }) => numbers.count(orders), kind: "number" },
        { title: "Gross", cell: ({ gross_amount }) => write(gross_amount), kind: "number", spare: true },
        { title: "Refunds", cell: ({ refunded_amount }) => write(refunded_amount), kind: "number" },
        { title: "Net", cell: ({ net_amount }) => write(net_amount), kind: "number" },
      ],
      [...before, ...now],
      { source: "sales_by_day", hideCaption: true },
    );
    return [
      html`<figure>
<figcaption><h3>Net and refunds by day, ${currencyName(currency)}: ${report.period.name} against ${report.period.before.name}</h3></figcaption>
${key(["now", report.period.name], ["before", report.period.before.name], ["tint", "refunds"])}${draw(byDayChart(telling, currency))}${behind("Day by day, in figures", table)}</figure>
`,
    ];
  });
  return section(
    "days",
    "By day",
    "",
    figures.length === 0 ? html`<p>${ticked(noDays(report))}</p>\n` : figures,
  );
}

export function monthsSection(telling: Telling): Html {
  const { report, numbers, draw } = telling;
  const figures = report.currencies.flatMap((currency) => {
    const rows = of(report.months, currency).toReversed();
    if (rows.length === 0) return [];
    const write = (value: number) => numbers.amount(value, currency);
    const table = pageTable<Report["months"][number]>(
      `By month, ${currencyName(currency)}`,
      [
        {
          title: "Month",
          cell: ({ month, is_partial, is_read }) => {
            const note = is_read ? (is_partial ? "so far" : "") : "read in part";
            return html`${shortMonth(month)}${note === "" ? "" : html` <i>${note}</i>`}`;
          },
        },
        { title: "Orders", cell: ({ orders }) => numbers.count(orders), kind: "number", spare: true },
        { title: "Gross", cell: ({ gross_amount }) => write(gross_amount), kind: "number", spare: true },
        { title: "Refunds", cell: ({ refunded_amount }) => write(refunded_amount), kind: "number" },
        { title: "Net", cell: ({ net_amount }) => write(net_amount), kind: "number" },
        {
          title: "Change",
          cell: ({ net_amount, net_before }) => numbers.change(net_amount, net_before),
          kind: "number",
        },
      ],
      rows,
      { source: "sales_by_month", hideCaption: true },
    );
    return [
      html`<figure>
<figcaption><h3>What each month brought, and what of it was refunded, ${currencyName(currency)}</h3></figcaption>
${key(["tall", "net"], ["tint", "refunded"])}<div class="pair months"><div>${draw(byMonthChart(telling, currency))}</div><div>${table}</div></div></figure>
`,
    ];
  });
  return section(
    "months",
    "The last thirteen months",
    report.months.some(({ is_partial }) => is_partial)
      ? "A month that is not over is compared with as many days of the month before."
      : "",
    figures,
  );
}
