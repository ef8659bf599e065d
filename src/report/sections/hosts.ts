import { counted } from "../../lib/counted.js";
import { countHosts, readRosterChanges, readShares, type Share } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { dayName } from "../dates.js";
import { type Block, type Column, type Section, words } from "../document.js";
import { currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

const mostHosts = 8;
const mostProducts = 5;
const mostChanges = 12;

/** Hosts with the highest net, hosts whose net moved most, and changes of the roster. */
export function hostsSection(context: Context): Section {
  const { mirror, period, currencies, numbers } = context;
  const made = readShares(mirror, "hosts", "made", mostHosts);
  const moved = period.before ? readShares(mirror, "hosts", "moved", mostHosts) : [];
  const counts = countHosts(mirror);
  const tables = currencies.flatMap((currency): Block[] => {
    const code = currencyName(currency);
    const hosts = counted(of(counts, currency)[0]?.hosts ?? 0, "host", (count) => numbers.count(count).text);
    const [best, movers] = [of(made, currency), of(moved, currency)];
    return [
      ...(best.length > 0
        ? [shareTable(context, best, { title: `Highest net of ${hosts}, ${code}`, name: "Host" })]
        : []),
      ...(movers.length > 0 ? [movedTable(context, movers, `Moved most, ${code}`)] : []),
    ];
  });
  const none: Block = { kind: "text", text: noOrders(context) };
  return {
    id: "hosts",
    title: "Hosts",
    lead: "",
    blocks: [...(tables.length === 0 ? [none] : tables), ...rosterLists(context)],
  };
}

export function productsSection(context: Context): Section {
  const rows = readShares(context.mirror, "products", "made", mostProducts);
  const blocks = context.currencies.flatMap((currency): Block[] => {
    const own = of(rows, currency);
    const title = `Highest net, ${currencyName(currency)}`;
    return own.length === 0 ? [] : [shareTable(context, own, { title, name: "Product" })];
  });
  return {
    id: "products",
    title: "Products",
    lead: "The product that the shopper came from.",
    blocks: blocks.length === 0 ? [{ kind: "text", text: noOrders(context) }] : blocks,
  };
}

function shareTable(
  { numbers }: Context,
  rows: Share[],
  { title, name }: { title: string; name: string },
): Block {
  return {
    kind: "table",
    title,
    columns: [
      { key: name.toLowerCase(), title: name, kind: "name" },
      { key: "orders", title: "Orders", kind: "number", is_spare: true },
      amountColumn("net_amount", "Net", rows),
    ],
    rows: rows.map((row) => [
      nameOf(row, `no ${name.toLowerCase()}`),
      numbers.count(row.orders),
      numbers.amount(row.net_amount, row.currency),
    ]),
    source: "order_figures",
  };
}

function movedTable({ numbers }: Context, rows: Share[], title: string): Block {
  return {
    kind: "table",
    title,
    columns: [
      { key: "host", title: "Host", kind: "name" },
      { key: "net_before", title: "Net before", kind: "number", is_spare: true },
      { ...amountColumn("net_amount", "Net", rows), is_spare: true },
      amountColumn("difference", "Difference", rows),
    ],
    rows: rows.map((row) => [
      nameOf(row, "no host"),
      numbers.amount(row.net_before, row.currency),
      numbers.amount(row.net_amount, row.currency),
      numbers.signed(row.difference, row.currency),
    ]),
    source: "order_figures",
  };
}

function amountColumn(key: string, title: string, [row]: Share[]): Column {
  const currency = row?.currency ?? null;
  return { key, title: currency === null ? title : `${title}, ${currencyName(currency)}`, kind: "number" };
}

/** A product may have no title; a host always has some name. */
function nameOf({ id, name }: Share, none: string) {
  return words(name ?? id?.slice(0, 8) ?? null, none);
}

function rosterLists({ mirror, period }: Context): Block[] {
  const rows = readRosterChanges(mirror, { since: period.since, until: period.until });
  return (["joined", "left"] as const).map((what) => {
    const own = rows.filter((row) => row.what === what);
    const items = own.slice(0, mostChanges).map(({ host_name, seen_at }) => ({
      value: host_name,
      text: `${host_name}, ${dayName(seen_at)}`,
    }));
    const title = what === "joined" ? "Joined the roster" : "Left the roster";
    return { kind: "list", title, items, more: own.length - items.length };
  });
}
