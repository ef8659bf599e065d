import { counted } from "../../lib/counted.js";
import type { Report } from "../figures.js";
import type { Numbers } from "../numbers.js";
import { shortMonth } from "../period.js";
import { currencyName, whatHappened } from "../words.js";
import { type TextLook, table, wrap } from "./layout.js";

export function restatedLines({ restated }: Report, numbers: Numbers, { style, width }: TextLook): string[] {
  const { months, orders } = restated;
  if (months.length === 0) return ["No month that was reported is another now."];
  const rows = months.map((row) => [
    shortMonth(row.month),
    currencyName(row.currency),
    numbers.amount(row.net_reported, row.currency),
    numbers.amount(row.net_now, row.currency),
    numbers.signed(row.difference, row.currency),
    numbers.count(row.orders),
  ]);
  const named = orders.map((row) => [
    row.order_number ?? row.order_id,
    shortMonth(row.month),
    currencyName(row.currency),
    whatHappened[row.what] ?? row.what,
    numbers.signed(row.difference, row.currency),
  ]);
  return [
    table(["month", "currency", "net reported", "net now", "difference", "orders"], rows, { style, width }),
    "",
    table(["order", "month", "currency", "what", "difference"], named, { style, width }),
  ];
}

export function outlookLines({ outlook }: Report, numbers: Numbers, { width }: TextLook): string[] {
  const [first] = outlook;
  if (first && outlook.every(({ why_none: why }) => why !== null))
    return wrap(`Nothing is predicted: ${first.why_none}.`, width);
  return outlook.flatMap(({ currency, why_none: why, through, to_come, standard_error, horizon }) => {
    const name = currencyName(currency);
    if (why !== null) return wrap(`${name}: nothing is predicted: ${why}.`, width);
    const sum = `${numbers.amount(to_come, currency)}, give or take ${numbers.amount(standard_error, currency)}`;
    return wrap(
      `${name}: ${sum}, of orders through ${shortMonth(through ?? "")} within ${counted(horizon, "month")} of the order.`,
      width,
    );
  });
}
