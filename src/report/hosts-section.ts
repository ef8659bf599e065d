import { createTable, type Section } from "./document.js";
import { FormattedValue, formatAmount, formatCount, formatCurrency } from "./formatting.js";
import { inCurrency, type ReportData } from "./report-data.js";
import { readHostShares } from "./report-figures.js";

/** The maximum number of hosts for each currency. */
const maxHosts = 8;

/** Creates a table of the hosts with the highest net amounts in each currency. */
export function hostsSection({ mirror, days, currencies }: ReportData): Section {
  const shares = readHostShares(mirror, days, maxHosts);
  const tables = currencies.map((currency) => {
    const code = formatCurrency(currency);
    return createTable(`Highest net, ${code}`, "order_figures", inCurrency(shares, currency), [
      ["host", "Host", "name", ({ host_label }) => new FormattedValue(host_label, host_label ?? "no host")],
      ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => formatAmount(row.net_amount, currency)],
    ]);
  });
  return { id: "hosts", title: "Hosts", lead: "", blocks: tables.filter(({ rows }) => rows.length > 0) };
}
