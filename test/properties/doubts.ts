import type { Watched } from "./brand.js";
import { falselyVerified, textOf } from "./check.js";
import type { History, Setting, Step } from "./histories.js";
import { playStep } from "./play.js";
import { createWorld } from "./world.js";

/** Something that an API may do although the model excludes it, switched on in every history. */
export interface Doubt {
  name: string;
  watched: Watched;
  setting: Setting;
  /** The cases that a run may call verified although they are not so; null: none. */
  silent: string | null;
}

function doubt(name: string, watched: Watched, setting: Setting, silent: string | null = null): Doubt {
  return { name, watched, setting, silent };
}

const cached = "an answer as it was before, where no count or figure differs; the next reading shows it";
const coarse = "dates that lie within the range as they are shown";
const lacking = "two wrong answers in a row that agree, or one in a list that the mirror does not know yet";

/** The doubts, each by itself: "Outside the model" of the page on syncing. */
export const doubts: readonly Doubt[] = [
  doubt("figures that lag", "orders", { lags: "figures" }),
  doubt("figures that drift", "orders", { doubts: { drift: true } }),
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
    { doubts: { mostCounted: 13 } },
    "a mirror that has as many as the cap",
  ),
  doubt(
    "totals that are capped",
    "roster",
    { doubts: { mostCounted: 13 } },
    "a list that ends where its total says",
  ),
  doubt("a filter that counts partial refunds", "orders", { doubts: { refunded: "any" } }),
  doubt("a filter that leaves cancelled orders out", "orders", { doubts: { statuses: "partition" } }),
  doubt("dates without a time", "orders", { doubts: { shows: "days" } }),
  doubt("times shown as midnight", "orders", { doubts: { shows: "midnight" } }, coarse),
  doubt("times shown by the minute", "orders", { doubts: { shows: "minutes" } }, coarse),
  doubt("times rounded to the next second", "orders", { doubts: { shows: "rounded" } }, coarse),
  doubt("records below the range", "orders", { doubts: { belowRange: true } }),
  doubt("ordered by id", "orders", { doubts: { order: "id" } }, "short answers that are sorted by chance"),
  doubt(
    "ordered by attribution",
    "orders",
    { doubts: { order: "attribution" } },
    "short answers that are sorted by chance",
  ),
  doubt("equal dates in changing order", "orders", { doubts: { ties: "changing" } }),
  doubt("a list in changing order", "roster", { doubts: { ties: "changing" } }),
  doubt("records without a date in every range", "orders", {
    doubts: { undated: "everywhere" },
    undated: true,
  }),
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

/** Loud: a run ended with 7 or 8. Silent: a run called something verified that was not so. */
export type Ending = "harmless" | "loud" | "silent";

/** Plays a history outside the model. @throws if a run breaks */
export async function playDoubt(
  watched: Watched,
  { steps, ...history }: History,
): Promise<{ ending: Ending; told: string[] }> {
  const world = await createWorld({ watched, ...history });
  let ending: Ending = "harmless";
  try {
    for (const step of [...steps, peaceful]) {
      const end = await playStep(world, step);
      if (!end) continue;
      if (end.code === 1) throw new Error(textOf(end.error), { cause: end.error });
      const told = end.verified ? falselyVerified(world, end) : [];
      if (told.length > 0) return { ending: "silent", told };
      if (end.code === 7 || end.code === 8) ending = "loud";
    }
    return { ending, told: [] };
  } finally {
    world.close();
  }
}
