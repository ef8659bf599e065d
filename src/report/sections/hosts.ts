import { readShares, type Share } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { type Block, Cell, type Section, sentence, tableOf } from "../document.js";
import { currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

const mostHosts = 8;

/** Hosts with the highest net, and hosts whose net moved most. */
export function hostsSection(context: Context): Section {
  const { mirror, period, currencies, numbers } = context;
  const made = readShares(mirror, "made", mostHosts);
  const moved = period.before ? readShares(mirror, "moved", mostHosts) : [];
  const host = ({ host_name }: Share) => new Cell(host_name, host_name ?? "no host");
  const tables = currencies.flatMap((currency): Block[] => {
    const code = currencyName(currency);
    const [best, movers] = [of(made, currency), of(moved, currency)];
    const highest = tableOf(`Highest net, ${code}`, "order_figures", best, [
      ["host", "Host", "name", host],
      ["orders", "Orders", "number", (row) => numbers.count(row.orders), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => numbers.amount(row.net_amount, currency)],
    ]);
    const changed = tableOf(`Moved most, ${code}`, "order_figures", movers, [
      ["host", "Host", "name", host],
      ["net_before", "Net before", "number", (row) => numbers.amount(row.net_before, currency), "spare"],
      ["net_amount", "Net", "number", (row) => numbers.amount(row.net_amount, currency), "spare"],
      ["difference", `Difference, ${code}`, "number", (row) => numbers.signed(row.difference, currency)],
    ]);
    return [...(best.length > 0 ? [highest] : []), ...(movers.length > 0 ? [changed] : [])];
  });
  const blocks = tables.length === 0 ? [sentence(noOrders(context))] : tables;
  return { id: "hosts", title: "Hosts", lead: "", blocks };
}
