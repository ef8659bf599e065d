import { ConfigurationError } from "../errors.js";
import { createFigureTables, readFirstDay, readOrdersEnd, readProof } from "../query/report-figures.js";
import { type Mirror, readInfo } from "../store/database.js";
import type { CurrentRun } from "../store/run-progress.js";
import { utcDay } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import type { ReportDocument } from "./document.js";
import { choosePeriod, type Period } from "./period.js";
import { readReportData } from "./report-data.js";
import { proofLine, proofSection, restatedSection } from "./restated-section.js";
import { daysSection, hostsSection, monthsSection, salesSection, summaryOf } from "./sales-section.js";

/** In the order in which people ask. */
const sections = [salesSection, daysSection, monthsSection, restatedSection, hostsSection, proofSection];

/**
 * Returns the report. The mirror says how far its days go, not the clock: the same mirror gives the same report.
 * @param asked milliseconds since 1970, as is `now`
 * @param underWay the run that holds the mirror
 * @throws ConfigurationError if the mirror has no orders, or none of that time
 */
export function createReport(
  mirror: Mirror,
  asked: { since: number | undefined; until: number | undefined },
  { now, underWay }: { now: number; underWay: CurrentRun | null },
): ReportDocument {
  const readTo = readOrdersEnd(mirror);
  if (readTo === null)
    throw new ConfigurationError(`The mirror holds no orders yet: ${mirror.path}`, {
      hint: "run `brandapi sync orders` first",
    });
  const reached = Date.parse(readTo);
  const proof = readProof(mirror, underWay);
  createFigureTables(mirror);
  const first = readFirstDay(mirror);
  const period = choosePeriod(asked, reached, proof.covered, first);
  refuseOutside(period, utcDay(reached), first);
  const context = readReportData(mirror, period, { reached, proof });
  return {
    brand: readInfo(mirror, "brand_name") ?? "Brand",
    period,
    summary: summaryOf(context),
    proof: proofLine(proof),
    sections: sections.map((make) => make(context)),
    made_at: formatInstant(now),
    reached: readTo,
  };
}

function refuseOutside(period: Period, last: string, first: string | null): void {
  if (period.since > last)
    throw new ConfigurationError(`Orders were read through ${last}: the report begins later.`, {
      hint: "choose an earlier time, or run `brandapi sync orders` first",
    });
  if (first !== null && period.until < first)
    throw new ConfigurationError(`The mirror's first order is of ${first}: the report ends earlier.`, {
      hint: `the first month there is: \`--month ${first.slice(0, 7)}\``,
    });
}
