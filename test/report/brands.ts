import { writeInfo } from "../../src/mirror/info.js";
import type { Mirror } from "../../src/mirror/mirror.js";
import type { JsonObject } from "../../src/resources/types.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

const at = "2026-10-20T02:00:00.000Z";

/** Text that would do harm where it is taken for anything but text. */
export const hostile = [
  "<script>window.ran=1</script>",
  '"><img src=x onerror=window.ran=1>',
  "</title></style><svg onload=window.ran=1>",
  "'; --></textarea><iframe src=https://example.com>",
  "\u202egnp.exe\u2066\u0000\u001b[31m",
  "عائشة الجبلية",
  "w".repeat(200),
  `${"long name ".repeat(19)}of many words`,
];

const host = (n: number, username: string | null) => ({ id: `h${n}`, username, first_name: username });

function orderOf(n: number, fields: JsonObject): JsonObject {
  return anOrder(n, { order_date: new Date(Date.UTC(2026, 9, 19) - n * 7_200_000).toISOString(), ...fields });
}

const currencies = ["EUR", "USD", "GBP", "JPY", "KWD", "SEK"];

/** Brands whose pages are looked at: what the mirror holds of each. */
export const pages = {
  "a watched year": { orders: [] },
  "one order": { orders: [orderOf(1, {})] },
  "six currencies": {
    orders: Array.from({ length: 1_200 }, (_, n) =>
      orderOf(n % 600, {
        id: `o${n}`,
        currency: currencies[n % 6] ?? null,
        total_amount: n % 6 === 3 ? 12_000 + n : 1_234_567.89 + n,
        refund_amount: n % 9 === 0 ? 20.5 : 0,
        host: host(n % 11, `host_${n % 11}`),
      }),
    ),
  },
  "hostile names": {
    orders: hostile.flatMap((text, n) =>
      [0, 20, 40].map((days) =>
        orderOf(n + days * 12, {
          id: `${text} ${days}`,
          order_number: text,
          currency: n === 0 ? text : "EUR",
          host: host(n, text),
          product: { id: `p${n}`, title: text, cover_photo: null },
        }),
      ),
    ),
    texts: hostile,
  },
} satisfies Record<string, { orders: JsonObject[]; texts?: string[] }>;

/** Ten months that were read on the first of each, with refunds of every age up to four months. */
export function writeWatchedYear(mirror: Mirror): void {
  const orders = Array.from({ length: 2_400 }, (_, n) => {
    const placed = Date.UTC(2025, 11, 1) + n * 3 * 3_600_000;
    return anOrder(n, { order_date: new Date(placed).toISOString(), host: host(n % 23, `host_${n % 23}`) });
  });
  const refundOf = (n: number, age: number) =>
    n % 11 < 5 && age >= n % 11 ? 20 + ((n * 7) % 90) / 4 : n % 13 === 0 && age >= 1 ? 12.5 : 0;
  for (let month = 0; month < 11; month += 1) {
    const at = Date.UTC(2025, 11 + month, month === 10 ? 20 : 1, 2);
    const seen = orders.filter(({ order_date }) => Date.parse(String(order_date)) < at);
    const now = seen.map((order, n) => {
      const age =
        month -
        new Date(String(order.order_date)).getUTCMonth() -
        12 * (new Date(String(order.order_date)).getUTCFullYear() - 2025) +
        11;
      return { ...order, refund_amount: refundOf(n, age - 1) };
    });
    writeRead(mirror, "orders", now, { at: new Date(at).toISOString(), whole: true });
  }
}

/** The page of such a brand, as the program makes it. */
export async function pageOf(name: keyof typeof pages): Promise<string> {
  const { orders, texts = [] }: { orders: JsonObject[]; texts?: string[] } = pages[name];
  const mirror = await makeMirror();
  if (name === "a watched year") writeWatchedYear(mirror);
  else writeRead(mirror, "orders", orders, { at: "2026-10-02T02:00:00.000Z", whole: true });
  writeRead(mirror, "roster", []);
  const changed = orders.filter((_, n) => n % 5 === 0).map((order) => ({ ...order, refund_amount: 15.25 }));
  if (changed.length > 0) writeRead(mirror, "orders", changed, { at, whole: true });
  writeRead(
    mirror,
    "roster",
    texts.map((text, n) => ({ relationship_id: `r${n}`, host: host(n, text) })),
    { at },
  );
  writeRead(
    mirror,
    "content",
    texts.map((text, n) => ({
      id: `c${n}`,
      source: "upload",
      filename: text,
      media_type: "image",
      created_at: "2026-10-05T00:00:00Z",
      host: { id: `h${n}`, username: text, name: text },
    })),
    { at },
  );
  writeRead(
    mirror,
    "opportunities",
    texts.map((text, n) => ({ id: `t${n}`, title: text, status: "ACTIVE", deadline: "2026-10-09" })),
    { at },
  );
  writeInfo(mirror, "brand_name", texts.length === 0 ? "Fjell & Fern" : "<b>Brand</b> & Söhne");
  mirror.db.close();
  const { out } = await reportOn(mirror.path, ["-o", "-"]);
  return out;
}

export async function reportOn(path: string, words: readonly string[]) {
  return await brandapi(["report", "--db", path, "--locale", "en", ...words], {
    clock: { now: () => Date.parse(at) },
  });
}
