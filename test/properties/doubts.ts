import { keyOf, type Watched } from "./brand.js";
import { falselyVerified, falseStatements, textOf } from "./check.js";
import { claimsOf } from "./claims.js";
import type { History, Setting, Step } from "./histories.js";
import { playStep } from "./play.js";
import { createWorld, type World } from "./world.js";

/** Something that an API may do although the model excludes it, switched on in every history. */
export interface Doubt {
  name: string;
  watched: Watched;
  setting: Setting;
  /** The cases that a run may call verified although they are not so; null: none. */
  silent: string | null;
  /** True if it breaks A1, A2 or A3: then no run makes a false claim, and the mirror has every record. */
  isReadByPage?: boolean;
}

/** An API that breaks A1, A2 or A3. */
function readByPage(name: string, setting: Setting, watched: Watched = "orders"): Doubt {
  return { name, watched, setting, silent: null, isReadByPage: true };
}

function doubt(name: string, watched: Watched, setting: Setting, silent: string | null = null): Doubt {
  return { name, watched, setting, silent };
}

const cached = "an answer as it was before, where no count or figure differs; the next reading shows it";
const lacking = "two wrong answers in a row that agree, or one in a list that the mirror does not know yet";

/** The variants, each by itself: "Outside the model" of the page on syncing. */
export const doubts: readonly Doubt[] = [
  doubt("figures that lag", "orders", { lags: "figures" }),
  doubt("figures that drift", "orders", { variants: { dailyTotalsDrift: true } }),
  doubt("totals that lag", "orders", { lags: "totals" }, "a count that is as it was before the last reading"),
  doubt(
    "totals that lag",
    "roster",
    { lags: "totals" },
    "a record that came after the page before, on a full page",
  ),
  doubt(
    "totals that are capped",
    "orders",
    { variants: { maxTotal: 13 } },
    "a mirror that has as many as the cap",
  ),
  doubt(
    "totals that are capped",
    "roster",
    { variants: { maxTotal: 13 } },
    "a list that ends where its total says",
  ),
  doubt("a filter that counts partial refunds", "orders", { variants: { refundedFilter: "any" } }),
  doubt("a filter that leaves cancelled orders out", "orders", { variants: { statusFilters: "partition" } }),
  readByPage("dates without a time", { variants: { datePrecision: "days" } }),
  readByPage("times shown as midnight", { variants: { datePrecision: "midnight" } }),
  readByPage("times shown by the minute", { variants: { datePrecision: "minutes" } }),
  readByPage("times without seconds", { variants: { datePrecision: "no seconds" } }),
  readByPage("times rounded to the next second", { variants: { datePrecision: "rounded" } }),
  readByPage("times that do not exist", { variants: { datePrecision: "invalid" } }),
  readByPage("times that do not exist", { variants: { datePrecision: "invalid" } }, "content"),
  readByPage("records below the range", { variants: { includesRecordBelow: true } }),
  readByPage("ordered by id", { variants: { order: "id" } }),
  readByPage("ordered by id", { variants: { order: "id" } }, "content"),
  readByPage("ordered by attribution", { variants: { order: "attribution" } }),
  readByPage("an API that ignores dates", { variants: { ignoresDateFilters: true } }),
  readByPage("records without a date in every range", {
    variants: { undated: "in every range" },
    undated: true,
  }),
  doubt("equal dates in changing order", "orders", { variants: { ties: "random" } }),
  doubt("a list in changing order", "roster", { variants: { ties: "random" } }),
  doubt(
    "records without a date, listed apart",
    "orders",
    { undated: true },
    "as many more have come since as lack a date",
  ),
  doubt("records dated ahead of now", "orders", { more: ["ahead"] }),
  doubt(
    "dates that are rewritten",
    "orders",
    { more: ["redate"] },
    "one record moves away while another comes: no count differs",
  ),
  doubt(
    "dates that are rewritten",
    "content",
    { more: ["redate"] },
    "one record moves away while another comes: no count differs",
  ),
  doubt("answers that are empty", "orders", { wrong: "empty" }, lacking),
  doubt("answers that are empty", "roster", { wrong: "empty" }, lacking),
  doubt("answers that lack records", "orders", { wrong: "lacks" }, lacking),
  doubt("answers that lack records", "roster", { wrong: "lacks" }, lacking),
  doubt("answers out of a cache", "orders", { wrong: "cached" }, cached),
  doubt("answers out of a cache", "roster", { wrong: "cached" }, cached),
];

const peaceful: Step = { run: "sync", with: { during: [] } };
const complete: Step = { run: "sync", with: { during: [], full: true, acceptRemovals: true } };

/**
 * Loud: a run ended with 7 or 8, or was not verified. Silent: a run called something verified that was not so, or made
 * another false claim.
 */
export type Ending = "harmless" | "loud" | "silent";

/** Plays a history outside the model. @throws if a run breaks */
export async function playDoubt(
  { isReadByPage = false, watched }: Doubt,
  { steps, ...history }: History,
): Promise<{ ending: Ending; told: string[] }> {
  const world = await createWorld({ watched, isReadByPage, ...history });
  let ending: Ending = "harmless";
  try {
    for (const [index, step] of [...steps, ...(isReadByPage ? [complete, complete] : [peaceful])].entries()) {
      const end = await playStep(world, step);
      if (!end) continue;
      if (end.code === 1) throw new Error(textOf(end.error), { cause: end.error });
      const told = isReadByPage
        ? falseStatements(world, end)
        : end.verified
          ? falselyVerified(world, end)
          : [];
      if (told.length > 0) return { ending: "silent", told: told.map((one) => `step ${index}: ${one}`) };
      if (end.code === 7 || end.code === 8 || (end.job === "sync" && end.code === 0 && !end.verified))
        ending = "loud";
    }
    return { ending, told: isReadByPage ? lostRecords(world) : [] };
  } finally {
    world.close();
  }
}

/** Returns the records that a script would have that reads the list page by page, and the mirror has not. */
function lostRecords(world: World): string[] {
  const { held } = claimsOf(world);
  return world.truth.at(world.now()).flatMap(({ json, record }) => {
    const key = keyOf(world.watched, record);
    const row = held.get(key);
    return row?.removedAt === null && row.json === json ? [] : [`${key}: not in the mirror as in the API`];
  });
}
