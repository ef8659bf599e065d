import { counted } from "../../lib/counted.js";
import type { Share } from "../../query/index.js";
import { of } from "../figures.js";
import { type Html, html, name } from "../html.js";
import { type PageColumn, pageTable } from "../page-table.js";
import { dayName } from "../period.js";
import { section, type Telling } from "../section.js";
import { currencyName, noOrder } from "../words.js";

/** Hosts who made the most, who moved most, who joined and left. */
export function hostsSection(telling: Telling): Html {
  const { report, numbers } = telling;
  const blocks = report.currencies.flatMap((currency) => {
    const made = of(report.hosts.made, currency);
    const moved = of(report.hosts.moved, currency);
    if (made.length + moved.length === 0) return [];
    const [count] = of(report.hosts.counts, currency);
    const hosts = counted(count?.hosts ?? 0, "host", numbers.count);
    return [
      html`<h3>${currencyName(currency)}: orders of ${hosts}</h3>
<div class="pair even"><div>${made.length === 0 ? html`<p>${noOrder(report)}</p>` : pageTable("Made the most", sharesColumns(telling, "Host", "no host", made), made)}</div>
<div>${moved.length === 0 ? "" : pageTable("Moved most", movedColumns(telling), moved)}</div></div>
`,
    ];
  });
  return section("hosts", "Hosts", "", [
    blocks.length === 0
      ? html`<p>${noOrder(report)}</p>\n`
      : [blocks, html`<p class="source">from <code>order_figures</code></p>\n`],
    rosterChanges(telling),
  ]);
}

export function productsSection(telling: Telling): Html {
  const { report } = telling;
  const blocks = report.currencies.flatMap((currency) => {
    const rows = of(report.products, currency);
    if (rows.length === 0) return [];
    return [pageTable(currencyName(currency), sharesColumns(telling, "Product", "no product", rows), rows)];
  });
  return section(
    "products",
    "Products",
    "The product that the shopper came from, by what its orders brought.",
    blocks.length === 0
      ? html`<p>${noOrder(report)}</p>\n`
      : [
          html`<div class="columns">${blocks.map((block) => html`<div>${block}</div>`)}</div>`,
          html`<p class="source">from <code>order_figures</code></p>\n`,
        ],
  );
}

function sharesColumns(
  { numbers }: Telling,
  title: string,
  none: string,
  rows: readonly Share[],
): PageColumn<Share>[] {
  const most = Math.max(...rows.map(({ net_amount }) => net_amount), 0);
  return [
    {
      title,
      cell: (row) => html`${name(row.name, row.id === null ? none : "no name")}${bar(row.net_amount, most)}`,
    },
    { title: "Orders", cell: ({ orders }) => numbers.count(orders), kind: "number", spare: true },
    { title: "Net", cell: (row) => numbers.amount(row.net_amount, row.currency), kind: "number" },
  ];
}

function movedColumns({ numbers }: Telling): PageColumn<Share>[] {
  return [
    { title: "Host", cell: (row) => name(row.name, "no name") },
    {
      title: "Before",
      cell: (row) => numbers.amount(row.net_before, row.currency),
      kind: "number",
      spare: true,
    },
    { title: "Net", cell: (row) => numbers.amount(row.net_amount, row.currency), kind: "number" },
    {
      title: "Moved",
      cell: (row) => html`<b>${numbers.signed(row.difference, row.currency)}</b>`,
      kind: "number",
    },
  ];
}

/** A share as a thin line under its name; the figure stands beside it. */
function bar(value: number, most: number): Html {
  const share = most <= 0 ? 0 : Math.max(0, Math.round((100 * value) / most));
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="1" class="rail"/><rect width="${share}" height="1"/></svg>`;
}

function rosterChanges({ report, numbers }: Telling): Html {
  const list = (what: "joined" | "left", title: string) => {
    const rows = report.hosts.roster.filter((row) => row.what === what);
    if (rows.length === 0) return html`<div><h3>${title}</h3><p>Nobody.</p></div>`;
    const shown = rows.slice(0, rosterMost);
    const more = rows.length - shown.length;
    return html`<div><h3>${title}: ${numbers.count(rows.length)}</h3>
<ul>${shown.map(({ seen_at, host_username }) => html`<li>${name(host_username, "no name")} <span class="note">${dayName(seen_at)}</span></li>`)}</ul>
${more > 0 ? html`<p class="note">and ${numbers.count(more)} more</p>` : ""}</div>`;
  };
  return html`<div class="pair even">${list("joined", "Joined the roster")}${list("left", "Left the roster")}</div>
<p class="source">from <code>roster_changes</code>, by when it was first seen</p>
`;
}

const rosterMost = 12;
