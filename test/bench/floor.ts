import { Agent, request } from "undici";
import { Sqlite } from "../support/sqlite.js";

/**
 * A minimal program that serves as a baseline. It stores typed columns and line items, sends four requests at a time,
 * and writes 50 pages per transaction. It stores neither complete records nor changes, verifies nothing and cannot
 * resume. Usage: floor.js PATH [SINCE]
 */
const [path = "", since] = process.argv.slice(2);
const { BRANDAPI_BASE_URL: base, BRANDAPI_KEY: key } = process.env;
const own = [
  "id",
  "external_order_id",
  "order_number",
  "order_date",
  "currency",
  "total_amount",
  "subtotal_amount",
  "refund_amount",
  "financial_status",
  "fulfillment_status",
  "is_cancelled",
  "is_refunded",
  "commission_rate",
  "commission_amount",
  "attribution",
];
const nested = [
  "host_id",
  "host_username",
  "host_first_name",
  "host_last_name",
  "host_profile_photo",
  "product_id",
  "product_title",
  "product_cover_photo",
  "gear_list_id",
  "gear_list_title",
];
const columns = [...own, ...nested];
type Value = string | number | boolean | null;
type Members = Record<string, Value>;
interface Order {
  [member: string]: Value | Members | null | Members[];
  id: string;
  host: Members | null;
  product: Members | null;
  gear_list: Members | null;
  line_items: Members[];
}
interface Page {
  data: Order[];
  pagination: { total_pages: number };
}

const db = new Sqlite(path);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = NORMAL");
db.pragma("cache_size = -64000");
db.exec(`
  CREATE TABLE IF NOT EXISTS orders (row_id INTEGER PRIMARY KEY, ${columns.join(", ")});
  CREATE UNIQUE INDEX IF NOT EXISTS orders_id ON orders (id);
  CREATE TABLE IF NOT EXISTS line_items (
    row_id INTEGER PRIMARY KEY, position, title, variant_title, sku, quantity, price
  );`);
const marks = columns.map(() => "?").join(", ");
const add = db.prepare(
  `INSERT INTO orders (${columns.join(", ")}) VALUES (${marks}) ON CONFLICT (id) DO NOTHING`,
);
const find = db.prepare("SELECT row_id FROM orders WHERE id = ?").pluck();
const replace = db.prepare(
  `UPDATE orders SET ${columns.map((name) => `${name} = ?`).join(", ")} WHERE row_id = ?`,
);
const clear = db.prepare("DELETE FROM line_items WHERE row_id BETWEEN ? AND ?");
const addItem = db.prepare("INSERT INTO line_items VALUES (?, ?, ?, ?, ?, ?, ?)");

const write = db.transaction((pages: readonly Page[]) => {
  for (const { data } of pages) for (const order of data) writeOrder(order);
});

function writeOrder(order: Order): void {
  const { host, product, gear_list } = order;
  const values = [
    ...own.map((name) => {
      const value = order[name];
      return typeof value === "boolean" ? Number(value) : (value ?? null);
    }),
    ...[host?.id, host?.username, host?.first_name, host?.last_name, host?.profile_photo],
    ...[product?.id, product?.title, product?.cover_photo, gear_list?.id, gear_list?.title],
  ].map((value) => value ?? null);
  const added = add.run(values);
  const id = added.changes === 1 ? Number(added.lastInsertRowid) : (find.get(order.id) as number);
  const first = id * 1_024;
  if (added.changes === 0) {
    replace.run(values, id);
    clear.run(first, first + 1_023);
  }
  for (const [n, { title, variant_title, sku, quantity, price }] of order.line_items.entries())
    addItem.run(first + n, n, title, variant_title, sku, quantity, price);
}

const dispatcher = new Agent({ connections: 4 });
const range = since ? `&start_date=${since}` : "";
async function get(page: number): Promise<Page> {
  const { body } = await request(`${base}/orders?per_page=100&page=${page}${range}`, {
    dispatcher,
    headers: { authorization: `Bearer ${key}` },
  });
  return (await body.json()) as Page;
}

const first = await get(1);
const last = first.pagination.total_pages;
const flying: Promise<Page>[] = [];
let next = 2;
let batch = [first];
for (;;) {
  while (flying.length < 4 && next <= last) flying.push(get(next++));
  const landed = flying.shift();
  if (!landed) break;
  batch.push(await landed);
  if (batch.length < 50) continue;
  write(batch);
  batch = [];
}
write(batch);
db.close();
await dispatcher.close();
