import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, fileAt, memberOf, noon, openRecord, orderAt } from "../support/records.js";

/** Text that could break a page or a terminal if it were not escaped. */
export const hostileNames = [
  "<script>window.ran=1</script>",
  '"><img src=x onerror=window.ran=1>',
  "</title></style><svg onload=window.ran=1>",
  "'; --></textarea><iframe src=https://example.com>",
  "\u202egnp.exe\u2066\u0000\u001b[31m",
  "عائشة الجبلية",
  "w".repeat(200),
  `${"long name ".repeat(19)}of many words`,
];

const host = (id: string, username: string) => ({ id, username, first_name: username, last_name: null });
const currencies = ["EUR", "USD", "GBP", "JPY", "KWD", "SEK"];

/** Brands whose report pages are tested in a browser. */
const brands: Record<string, () => TestBrand> = {
  "a brand with many orders": () => makeBrand({ history: 1_500, listLimit: 60 }),
  "a brand with one order": () => makeBrand({ orders: [orderAt("a", noon - 2 * day)] }),
  "a brand with six currencies": () =>
    makeBrand({
      orders: Array.from({ length: 1_200 }, (_, n) =>
        orderAt(`o${n}`, noon - (n % 600) * (day / 12), {
          currency: currencies[n % 6],
          total_amount: n % 6 === 3 ? 12_000 + n : 1_234_567.89 + n,
          refund_amount: n % 9 === 0 ? 20.5 : 0,
          host: host(`h${n % 11}`, `host_${n % 11}`),
        }),
      ),
    }),
  "a brand whose names contain HTML": () =>
    makeBrand({
      orders: hostileNames.flatMap((text, n) =>
        [0, 20, 40].map((days) =>
          orderAt(`${text} ${days}`, noon - (days + 1) * day, {
            order_number: text,
            currency: n === 0 ? text : "EUR",
            host: host(`h${n}`, text),
            product: { id: `p${n}`, title: text, cover_photo: null },
          }),
        ),
      ),
      content: hostileNames.map((text, n) =>
        fileAt(`c${n}`, noon - 5 * day, {
          filename: text,
          host: { id: `h${n}`, username: text, name: text },
        }),
      ),
      opportunities: hostileNames.map(
        (text, n) => openRecord(`t${n}`, { title: text, status: "ACTIVE", deadline: "2026-11-09" }) as never,
      ),
    }),
};

export const brandNames = Object.keys(brands);

export async function createReportPage(name: string): Promise<string> {
  const brand = brands[name]?.() ?? makeBrand();
  await brand.run("sync");
  for (const { id } of brand.data.orders.filter((_, n) => n % 5 === 0)) brand.refund(id);
  if (name === "a brand whose names contain HTML")
    for (const [n, text] of hostileNames.entries())
      brand.add("roster", memberOf(`r${n}`, { host: host(`h${n}`, text) }));
  brand.pass(15 * day);
  await brand.run("sync");
  return (await brand.run("report -o - --month 2026-11")).out;
}
