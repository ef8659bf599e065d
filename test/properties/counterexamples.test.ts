import { expect, test } from "vitest";
import type { Happening, Watched } from "./brand.js";
import type { Run, Step } from "./histories.js";
import { play } from "./play.js";

/** `late/3/600`: what happens, to which record, how many days back. */
function happening(text: string): Happening {
  const [what = "", pick = "0", days = "0"] = text.split("/");
  return { what: what as Happening["what"], pick: Number(pick), days: Number(days) };
}

/** `sync until=40 5:stop 7:late/3`: a run, its flags, and what happens before the answer to a request; or one happening. */
function stepOf(text: string): Step {
  const [first = "", ...rest] = text.trim().split(" ");
  if (!["sync", "verify", "repair"].includes(first)) return happening(first);
  const during = rest.flatMap((word) => {
    const [at, what = ""] = word.split(":");
    const trouble = (["stop", "kill", "403"] as const).find((one) => one === what);
    return word.includes(":") ? { atRequest: Number(at), what: trouble ?? happening(what) } : [];
  });
  const daysOf = (flag: string) =>
    rest.flatMap((word) => (word.startsWith(flag) ? Number(word.slice(flag.length)) : []))[0];
  const [sinceDays, untilDays] = [daysOf("since="), daysOf("until=")];
  const flags = {
    ...(sinceDays === undefined ? {} : { sinceDays }),
    ...(untilDays === undefined ? {} : { untilDays }),
    ...(rest.includes("full") ? { full: true } : {}),
  };
  return { run: first as Run["run"], with: { ...flags, during } };
}

/** Histories that once led to a false claim, shrunk to what mattered: records at the beginning, records per page, steps. */
const found: [
  watched: Watched,
  seed: number,
  records: number,
  perPage: number,
  steps: string,
  name: string,
][] = [
  ["orders", 1, 2, 2, "crowd/7", "dates in the last millisecond of a second"],
  [
    "orders",
    1,
    1,
    2,
    "late/0/9, late/0/2, sync, withdraw/1, withdraw, sync full",
    "the oldest days lose all their orders",
  ],
  [
    "content",
    2,
    14,
    2,
    "sync, withdraw/6692, late, sync 1:withdraw/4699 3:return",
    "a file returns before its removal is decided",
  ],
  ["roster", 1, 22, 2, "sync, sync 11:host/3930", "a host is renamed on a later page"],
  [
    "opportunities",
    1,
    1,
    2,
    "sync 2:exchange",
    "a campaign comes while the details of one that left are asked for",
  ],
  ["gifts", 1, 1, 2, "sync, withdraw, new, sync", "a list without dates loses a record"],
  ["roster", 1, 30, 5, "sync 5:withdraw/7320", "a host leaves from a page already read"],
  [
    "orders",
    1,
    1,
    2,
    "sync, withdraw, new, sync until=1 full, sync until=0",
    "two narrow runs see neither of two changes",
  ],
  ["orders", 1, 3, 4, "sync, sync since=5 1:late/0/5", "--since begins in the middle of a second"],
  [
    "orders",
    1,
    3,
    2,
    "sync 3:403, withdraw, sync 5:stop, sync",
    "an order is shown by an answer that does not cover it",
  ],
  ["orders", 382, 13, 2, "sync, cancel/3, sync until=40", "an order is cancelled where a run does not read"],
  [
    "orders",
    3,
    30,
    5,
    "sync 5:stop, withdraw/1, withdraw/2, late/3/600, late/4/600, sync",
    "a stopped read goes on below gaps",
  ],
  ["orders", 382, 13, 2, "sync until=16, verify", "only the beginning of a month was read"],
  ["orders", 1, 9, 2, "sync, refund, repair 16:withdraw", "a repair finds that an order has just gone"],
];

test.each(found)(
  "%s (seed %i, %i records, %i per page): %s: %s",
  async (watched, seed, records, perPage, steps) => {
    const history = { beginning: { seed, records, crowd: 1 }, variants: { maxPerPage: perPage } };
    expect(await play(watched, { ...history, steps: steps.split(",").map(stepOf) })).toEqual([]);
  },
);
