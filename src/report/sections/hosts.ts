import { readShares } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { Cell, type Section, sentence, tableOf } from "../document.js";
import { amount, count, currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

const mostHosts = 8;

/** The hosts with the highest net, by currency. */
export function hostsSection(context: Context): Section {
  const { mirror, days, currencies } = context;
  const shares = readShares(mirror, days, mostHosts);
  const tables = currencies.flatMap((currency) => {
    const best = of(shares, currency);
    const code = currencyName(currency);
    const table = tableOf(`Highest net, ${code}`, "order_figures", best, [
      ["host", "Host", "name", ({ host_label }) => new Cell(host_label, host_label ?? "no host")],
      ["orders", "Orders", "number", (row) => count(row.orders), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => amount(row.net_amount, currency)],
    ]);
    return best.length > 0 ? [table] : [];
  });
  const blocks = tables.length === 0 ? [sentence(noOrders)] : tables;
  return { id: "hosts", title: "Hosts", lead: "", blocks };
}
