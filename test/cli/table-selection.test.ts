import { expect, test } from "vitest";
import { TerminalReporter } from "../../src/cli/progress.js";
import type { ReadSession } from "../../src/cli/read-session.js";
import {
  parseAsOf,
  resolveSyncedTable,
  resolveTableName,
  useDataAsOf,
  warnAboutPartialTables,
  warnAboutUnreadTables,
} from "../../src/cli/table-selection.js";
import { type Mirror, withReadTransaction } from "../../src/store/database.js";
import { saveRanking } from "../../src/store/ranking-history.js";
import { createStyle } from "../../src/util/terminal.js";
import { formatInstant } from "../../src/util/timestamps.js";
import { makeBrand } from "../support/brand.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { testDeps } from "../support/program.js";
import { memberOf } from "../support/records.js";

/** Returns the warnings that `warn` prints on stderr. */
async function warningsOf(mirror: Mirror, warn: (session: ReadSession) => void): Promise<string[]> {
  const deps = testDeps();
  const reporter = new TerminalReporter(deps, {});
  const style = createStyle(deps.stdout, {}, deps.env);
  const session = { deps, flags: {}, mirror, reporter, style, width: undefined };
  await withReadTransaction(mirror, async () => warn(session));
  return deps.stderr.text.split("\n").filter((line) => line !== "");
}

test("table names can contain dashes and uppercase letters", () => {
  expect(resolveTableName("Order-Line-Items")).toBe("order_line_items");
  expect(resolveTableName("sales-by-month")).toBe("sales_by_month");
});

test("the error for a name that is not a table states whether it is a column or a system table", () => {
  expect(() => resolveTableName("order_number", ["id"])).toThrow("is a column, not a table");
  expect(() => resolveTableName("order_number")).toThrow("Unknown table");
  expect(() => resolveTableName("nonsense", ["id"])).toThrow("Unknown table");
  expect(() => resolveTableName("records")).toThrow("`records` is a system table");
  expect(() => resolveTableName("xyzzy")).toThrow(
    expect.objectContaining({ hint: "`brandapi tables` lists the tables and views" }),
  );
});

test("selecting a table or view whose resource has never been synced fails with a hint that gives the sync command to run", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", []);
  for (const name of ["orders", "order_line_items", "sales_by_month", "changes"])
    expect(resolveSyncedTable(mirror, name).name).toBe(name);
  for (const name of ["survey_results", "content_by_host"]) {
    const resource = name === "survey_results" ? "surveys" : "content";
    expect(() => resolveSyncedTable(mirror, name)).toThrow(
      expect.objectContaining({ exitCode: 3, hint: `run \`brandapi sync ${resource}\` first` }),
    );
  }
  const accepts = { acceptsUnreadViews: true };
  expect(resolveSyncedTable(mirror, "content_by_host", accepts).name).toBe("content_by_host");
  expect(() => resolveSyncedTable(mirror, "survey_results", accepts)).toThrow("no data for `survey_results`");
});

const now = Date.parse("2026-11-21T12:00:00.000Z");

test("without --as-of, commands read the current data", () => {
  expect(parseAsOf(undefined, now)).toBeUndefined();
});

test.each([
  ["2026-11-20", "2026-11-20T23:59:59.999Z"],
  ["2026-11-21", "2026-11-21T23:59:59.999Z"],
  ["2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000Z"],
])("--as-of %s selects the data as of %s", (text, expected) => {
  expect(formatInstant(parseAsOf(text, now) ?? 0)).toBe(expected);
});

test.each(["2026-11-22", "2026-11-21T12:00:00.001Z"])(
  "--as-of %s is rejected as a time in the future if it is now 2026-11-21T12:00:00Z",
  (text) => {
    expect(() => parseAsOf(text, now)).toThrow("in the future");
  },
);

test("--as-of TIME warns about resources first read after TIME, tables without a history, and a host ranking that was re-read later on the same day", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T00:00:00.000Z" });
  writeRead(mirror, "roster", [memberOf("r1")], { at: "2026-11-02T00:00:00.000Z" });
  const ranking = [{ host: null, clicks: 1 }];
  writeRead(mirror, "analytics-hosts", ranking, {
    at: "2026-11-01T06:00:00.000Z",
    parameters: { position: 0 },
  });
  mirror.transaction(() => saveRanking(mirror, Date.parse("2026-11-01T18:00:00Z"), ranking));
  const at = Date.parse("2026-11-01T12:00:00Z");
  const names = ["hosts", "hosts_by_month"];
  expect(await warningsOf(mirror, (session) => useDataAsOf(session, names, at))).toEqual([
    expect.stringMatching(/^warning: roster was first read at 2026-11-02T00:00:00\.000Z/),
    expect.stringContaining("keeps no history of `analytics_clicks_periods`"),
    expect.stringContaining("keeps no history of `analytics_clicks_top_hosts`"),
    expect.stringContaining("the host ranking was re-read later on the same day"),
  ]);
});

test("a command warns about a table that has never been synced, and prints a note about a view if some of its resources have never been synced", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  const names = ["orders", "hosts", "changes", "survey_results"];
  const warnings = () => warningsOf(mirror, (session) => warnAboutUnreadTables(session, names));
  const unread = ["roster", "recommendations", "analytics-hosts"];
  expect(await warnings()).toEqual([
    `\`hosts\` contains no data from ${unread.join(", ")}, which have never been read; run \`brandapi sync ${unread.join(" ")}\``,
    "warning: `survey_results` is empty because it has never been read; run `brandapi sync surveys`",
  ]);
  for (const name of ["roster", "recommendations"]) writeRead(mirror, name, []);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^`hosts` .* from analytics-hosts, which has never been read; /),
    "warning: `survey_results` is empty because it has never been read; run `brandapi sync surveys`",
  ]);
});

test("a command warns about tables whose first sync was interrupted", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  writeRead(mirror, "roster", [memberOf("r1")]);
  mirror.db.exec("UPDATE sync_runs SET outcome = 'interrupted' WHERE resource = 'roster'");
  const names = ["orders", "roster", "content"];
  expect(await warningsOf(mirror, (session) => warnAboutPartialTables(session, names))).toEqual([
    expect.stringMatching(/^warning: roster: no sync has completed yet, .*`brandapi sync roster`$/),
  ]);
});

test("warns about a gap even if every sync had an earlier --until", async () => {
  const brand = makeBrand();
  await brand.run("sync orders --since 2026-01-01 --until 2026-03-31");
  await brand.run("sync orders --since 2026-06-01 --until 2026-07-31");
  expect((await brand.run("export orders --csv")).err).toContain(
    "warning: orders: 2026-04-01 00:00 to 2026-05-31 23:59 has never been read",
  );
});

test("warns once about a gap that the last sync left, but not about the records before the start of the mirror", async () => {
  const brand = makeBrand();
  await brand.run("sync orders --since 2026-11-01");
  const warnings = async () =>
    (await brand.run("export orders commission_by_host -o out/ --quiet")).err.split("\n").slice(0, -1);
  expect(await warnings()).toEqual([]);
  await brand.run("sync orders --since 2026-03-01 --until 2026-04-01");
  expect(await warnings()).toEqual([
    "warning: orders: 2026-04-02 00:00 to 2026-10-31 23:59 has never been read, so records may be missing; run `brandapi sync orders`",
  ]);
  await brand.run("sync orders");
  expect(await warnings()).toEqual([]);
});
