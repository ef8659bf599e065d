import { checkVerified, errorText, findFalseStatements } from "./checks.js";
import { readClaims } from "./claims.js";
import { keyOf, type TestedList } from "./model.js";
import { playStep } from "./play.js";
import type { Scenario, ScenarioOptions, Step } from "./scenarios.js";
import { World } from "./world.js";

/** An API that violates an assumption in src/sync/README.md. */
export interface ApiVariant {
  name: string;
  listName: TestedList;
  options: ScenarioOptions;
  /** The case in which a run can be verified even though the mirror differs from the API; null if there is none. */
  knownGap: string | null;
  /**
   * True if the API violates assumption A1, A2 or A3, so lists are read page by page. With such an API, no run may make
   * a false claim, and the mirror must contain every record at the end.
   */
  isReadByPage?: boolean;
}

function readByPage(name: string, options: ScenarioOptions, listName: TestedList = "orders"): ApiVariant {
  return { name, listName, options, knownGap: null, isReadByPage: true };
}

function variant(
  name: string,
  listName: TestedList,
  options: ScenarioOptions,
  knownGap: string | null = null,
): ApiVariant {
  return { name, listName, options, knownGap };
}

const cached = "a single outdated response for a list, while all other counts and totals are up to date";
const lacking =
  "two consecutive responses that lack the same record, or such a response for a list that has never been read";

export const apiVariants: readonly ApiVariant[] = [
  variant("outdated daily totals", "orders", { lags: "dailyTotals" }),
  variant("daily totals whose amounts change for most days although no order changes", "orders", {
    variants: { dailyTotalsDrift: true },
  }),
  variant(
    "outdated record counts (total_items)",
    "orders",
    { lags: "totals" },
    "an outdated count that equals the count before the last read",
  ),
  variant(
    "outdated record counts (total_items)",
    "roster",
    { lags: "totals" },
    "a record that is added just before the last page is requested, if that page is full",
  ),
  variant(
    "capped record counts (total_items)",
    "orders",
    { variants: { maxTotal: 13 } },
    "a mirror in which the number of records equals the cap",
  ),
  variant(
    "capped record counts (total_items)",
    "roster",
    { variants: { maxTotal: 13 } },
    "a read that returns exactly as many records as the cap",
  ),
  variant("partially refunded orders in the list of refunded orders", "orders", {
    variants: { refundedFilter: "any" },
  }),
  variant("no cancelled orders in the list of refunded orders", "orders", {
    variants: { statusFilters: "partition" },
  }),
  readByPage("dates without a time", { variants: { datePrecision: "days" } }),
  readByPage("times set to midnight", { variants: { datePrecision: "midnight" } }),
  readByPage("times truncated to the minute", { variants: { datePrecision: "minutes" } }),
  readByPage("times without seconds", { variants: { datePrecision: "no seconds" } }),
  readByPage("times rounded to the nearest second", { variants: { datePrecision: "rounded" } }),
  readByPage("unreadable times", { variants: { datePrecision: "invalid" } }),
  readByPage("unreadable times", { variants: { datePrecision: "invalid" } }, "content"),
  readByPage("lists with a record dated before the requested range", {
    variants: { includesRecordBelow: true },
  }),
  readByPage("lists sorted by ID", { variants: { order: "id" } }),
  readByPage("lists sorted by ID", { variants: { order: "id" } }, "content"),
  readByPage("lists sorted by attribution time", { variants: { order: "attribution" } }),
  readByPage("lists that ignore date filters", { variants: { ignoresDateFilters: true } }),
  readByPage("undated records for every date range", {
    variants: { undated: "in every range" },
    undated: true,
  }),
  variant("records with equal dates in random order", "orders", { variants: { ties: "random" } }),
  variant("a list in random order", "roster", { variants: { ties: "random" } }),
  variant(
    "undated records only in lists without a date range",
    "orders",
    { undated: true },
    "between two counts, at least as many records are added or removed as there are undated records, so the counts match",
  ),
  variant("records that are dated in the future", "orders", { more: ["future"] }),
  variant(
    "records whose dates change",
    "orders",
    { more: ["redate"] },
    "one record moves out of a range and another is added, so the counts still match",
  ),
  variant(
    "records whose dates change",
    "content",
    { more: ["redate"] },
    "one record moves out of a range and another is added, so the counts still match",
  ),
  variant("some empty responses", "orders", { wrong: "empty" }, lacking),
  variant("some empty responses", "roster", { wrong: "empty" }, lacking),
  variant("some responses that omit records", "orders", { wrong: "lacks" }, lacking),
  variant("some responses that omit records", "roster", { wrong: "lacks" }, lacking),
  variant("some outdated responses", "orders", { wrong: "cached" }, cached),
  variant("some outdated responses", "roster", { wrong: "cached" }, cached),
];

const undisturbed: Step = { run: "sync", with: { during: [] } };
const complete: Step = { run: "sync", with: { during: [], full: true, acceptRemovals: true } };

/** An API variant's effect on a scenario. */
export type Effect =
  | "harmless"
  /** A run exited with code 7 or 8, or was not verified. */
  | "loud"
  /** A run made a false claim. */
  | "silent";

/**
 * Runs a scenario with an API variant.
 * @throws if a run fails because of a bug (exit code 1)
 */
export async function playVariant(
  { isReadByPage = false, listName }: ApiVariant,
  { steps, ...options }: Scenario,
): Promise<{ effect: Effect; falseClaims: string[] }> {
  const world = await World.create({ listName, isReadByPage, ...options });
  let effect: Effect = "harmless";
  try {
    for (const [index, step] of [
      ...steps,
      ...(isReadByPage ? [complete, complete] : [undisturbed]),
    ].entries()) {
      const result = await playStep(world, step);
      if (!result) continue;
      if (result.code === 1) throw new Error(errorText(result.error), { cause: result.error });
      const falseClaims = isReadByPage
        ? findFalseStatements(world, result)
        : result.verified
          ? checkVerified(world, result)
          : [];
      if (falseClaims.length > 0)
        return { effect: "silent", falseClaims: falseClaims.map((one) => `step ${index}: ${one}`) };
      if (
        result.code === 7 ||
        result.code === 8 ||
        (result.job === "sync" && result.code === 0 && !result.verified)
      )
        effect = "loud";
    }
    return { effect, falseClaims: isReadByPage ? findLostRecords(world) : [] };
  } finally {
    world.close();
  }
}

function findLostRecords(world: World): string[] {
  const { records } = readClaims(world);
  return world.versionHistory.at(world.now).flatMap(({ json, record }) => {
    const key = keyOf(world.listName, record);
    const row = records.get(key);
    return row?.removedAt === null && row.json === json
      ? []
      : [`${key}: missing from the mirror, or different`];
  });
}
