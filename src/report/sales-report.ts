import { ConfigurationError } from "../errors.js";
import { loadReadRanges } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import type { RunningCommand } from "../store/mirror-lock.js";
import { loadOwner } from "../store/owner.js";
import { mergeRanges } from "../util/time-ranges.js";
import { formatInstant, formatInstantOrNull, formatStart } from "../util/timestamps.js";
import { views } from "../views/all-views.js";
import { orderReadsSql, ordersReadUntilSql } from "../views/order-history.js";
import { viewQuery } from "../views/view.js";
import type { ReportDocument } from "./document.js";
import { choosePeriod, type Period } from "./period.js";
import { createProofSection, judgeProof, loadProof } from "./proof-section.js";
import { createRestatedSection } from "./restated-section.js";
import {
  createDaysSection,
  createHostsSection,
  createMonthsSection,
  createSalesSection,
  loadReportData,
  summarizeNet,
} from "./sales-sections.js";

/**
 * Creates the report from the mirror. The mirror, not the clock, determines which days are complete.
 * @param requested the start and end of the period; like `now`, in milliseconds since the Unix epoch
 * @param runningCommand the run that has locked the mirror
 * @throws ConfigurationError if the mirror has no orders, or if the requested period is outside the mirrored dates
 */
export function createReport(
  mirror: Mirror,
  requested: { since: number | undefined; until: number | undefined },
  { now, runningCommand }: { now: number; runningCommand: RunningCommand | null },
): ReportDocument {
  materializeViews(mirror);
  const firstSalesDay = mirror.selectValue<string>("SELECT min(day) FROM sales_by_day");
  const lastSalesDay = mirror.selectValue<string>("SELECT max(day) FROM sales_by_day");
  const readUntil = loadOrdersEnd(mirror);
  // If an order with an unreadable date appears in the API's response for every date range, no range counts as fully
  // read.
  const reached = readUntil ?? (lastSalesDay && `${lastSalesDay}T00:00:00.000Z`);
  if (reached === null)
    throw new ConfigurationError(`The mirror has no orders yet: ${mirror.path}`, {
      hint: "run `brandapi sync orders` first",
    });
  const ranges = mergeRanges(loadReadRanges(mirror, "orders"));
  const period = choosePeriod(requested, Date.parse(reached), ranges, firstSalesDay);
  const mirrorStart = formatInstantOrNull(ranges[0]?.from ?? Number.NEGATIVE_INFINITY);
  checkPeriod(period, reached.slice(0, 10), firstSalesDay, mirrorStart);
  const proof = loadProof(mirror, runningCommand);
  const judgement = judgeProof(proof, period, reached);
  const data = loadReportData(mirror, period, mirrorStart);
  const sections = [
    createSalesSection(data),
    createDaysSection(data),
    createMonthsSection(data),
    createRestatedSection(data),
    createHostsSection(data),
    createProofSection(proof, judgement.proof, readUntil, reached),
  ];
  return {
    brand: loadOwner(mirror)?.name ?? "Brand",
    period,
    summary: summarizeNet(data),
    ...judgement,
    sections: sections.filter(({ blocks }) => blocks.length > 0),
    made_at: formatInstant(now),
    reached,
  };
}

/** The views that a report reads several times. Each view comes after the views that it reads. */
const viewsToMaterialize = ["sales_by_day", "restated_orders", "sales_by_month", "restatements"];

/**
 * Replaces the views in `viewsToMaterialize` with temporary tables, so that each view is computed only once. Requires a
 * read transaction.
 */
function materializeViews({ db }: Mirror): void {
  for (const name of viewsToMaterialize)
    for (const view of views.filter((one) => one.name === name))
      db.exec(`CREATE TEMP TABLE ${name} AS ${viewQuery(view)}`);
}

/** Returns the time up to which orders have been read (ISO 8601), or null if no date range has been fully read. */
function loadOrdersEnd(mirror: Mirror): string | null {
  return mirror.selectValue<string>(`WITH ${orderReadsSql} SELECT ${ordersReadUntilSql}`);
}

/** @param mirrorStart the date before which orders have never been read (ISO 8601), or null if there is no such date */
function checkPeriod(
  { since, until }: Period,
  lastReadDay: string,
  firstSalesDay: string | null,
  mirrorStart: string | null,
): void {
  if (since > lastReadDay)
    throw new ConfigurationError(`The period starts after ${lastReadDay}, the last day that was read.`, {
      hint: "choose an earlier period, or run `brandapi sync orders` first",
    });
  if (mirrorStart !== null) {
    if (until >= mirrorStart.slice(0, 10)) return;
    throw new ConfigurationError(
      `Orders before ${formatStart(mirrorStart)} have never been read, and the period ends before that date.`,
      { hint: "run `brandapi sync orders --full` to read all orders" },
    );
  }
  if (firstSalesDay !== null && until < firstSalesDay)
    throw new ConfigurationError(`The period ends before ${firstSalesDay}, the day of the first order.`, {
      hint: `use \`--month ${firstSalesDay.slice(0, 7)}\`, the first month with orders`,
    });
}
