import { ConfigurationError } from "../errors.js";
import { type Mirror, readInfo } from "../store/database.js";
import type { CurrentRun } from "../store/lock.js";
import { dayRange, utcDay } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import type { ReportDocument } from "./document.js";
import { choosePeriod, type Period } from "./period.js";
import {
  createFigureTables,
  readFirstDay,
  readLastDay,
  readOrdersEnd,
  readProof,
  readReportData,
  readStoredRanges,
} from "./report-figures.js";
import { createSections, isProven, proofLine, summarizeNet } from "./sections.js";

/**
 * Creates the report. The result depends only on the mirror, because the mirror, not the clock, determines which days
 * are complete.
 * @param requested the start and end of the period, in milliseconds since the Unix epoch, like `now`
 * @param currentRun the run that has locked the mirror
 * @throws ConfigurationError if the mirror has no orders, or if the requested period ends before the first order or
 * starts after the last day that was read
 */
export function createReport(
  mirror: Mirror,
  requested: { since: number | undefined; until: number | undefined },
  { now, currentRun }: { now: number; currentRun: CurrentRun | null },
): ReportDocument {
  createFigureTables(mirror);
  const firstDay = readFirstDay(mirror);
  const readUntil = readOrdersEnd(mirror);
  const reached = readUntil === null ? guessOrdersEnd(mirror) : Date.parse(readUntil);
  if (reached === null)
    throw new ConfigurationError(`The mirror has no orders yet: ${mirror.path}`, {
      hint: "run `brandapi sync orders` first",
    });
  const proof = readProof(mirror, currentRun);
  const period = choosePeriod(requested, reached, readStoredRanges(mirror), firstDay);
  checkPeriod(period, utcDay(reached), firstDay);
  const data = readReportData(mirror, period, { reached, proof, isReadUntilKnown: readUntil !== null });
  return {
    brand: readInfo(mirror, "brand_name") ?? "Brand",
    period,
    summary: summarizeNet(data),
    is_proven: isProven(proof),
    proof: proofLine(proof),
    sections: createSections(data),
    made_at: formatInstant(now),
    reached: readUntil ?? formatInstant(reached),
  };
}

/**
 * Returns the start of the day of the newest order, or null if there are no orders. This fallback is needed if the API
 * returns an order with an unreadable date in every date range, because then no range counts as read.
 */
function guessOrdersEnd(mirror: Mirror): number | null {
  const day = readLastDay(mirror);
  return day === null ? null : dayRange(day).from;
}

function checkPeriod(period: Period, lastDay: string, firstDay: string | null): void {
  if (period.since > lastDay)
    throw new ConfigurationError(`The period starts after ${lastDay}, the last day that was read.`, {
      hint: "choose an earlier period, or run `brandapi sync orders` first",
    });
  if (firstDay !== null && period.until < firstDay)
    throw new ConfigurationError(`The period ends before ${firstDay}, the day of the first order.`, {
      hint: `use \`--month ${firstDay.slice(0, 7)}\`, the first month with orders`,
    });
}
