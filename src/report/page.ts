import { createHash } from "node:crypto";
import { escapeText } from "../ui/text.js";
import type { Report } from "./figures.js";
import { type Html, html, trusted } from "./html.js";
import { look } from "./look.js";
import { createNumbers } from "./numbers.js";
import { dayName } from "./period.js";
import type { Telling } from "./section.js";
import { hostsSection, productsSection } from "./sections/hosts.js";
import { proofSection } from "./sections/proof.js";
import { refundsSection, restatedSection } from "./sections/refunds.js";
import { daysSection, monthsSection, salesSection } from "./sections/sales.js";
import { campaignsSection, clicksSection, contentSection } from "./sections/work.js";
import { summaryLine, timeOf } from "./words.js";

/** In the order in which people ask. */
const sections = [
  salesSection,
  daysSection,
  monthsSection,
  restatedSection,
  refundsSection,
  hostsSection,
  productsSection,
  clicksSection,
  campaignsSection,
  contentSection,
  proofSection,
];

/** The page: one file that asks for nothing and runs nothing. */
export async function pageOf(report: Report, locale: string): Promise<string> {
  const { drawChart } = await import("./draw.js");
  const telling: Telling = { report, numbers: createNumbers(locale), draw: drawChart };
  const brand = escapeText(report.brand ?? "Brand");
  const { period } = report;
  const summary = summaryLine(report, telling.numbers);
  const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(look).digest("base64")}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${brand}: ${period.name}</title>
<style>${trusted(look)}</style>
</head>
<body>
<header>
<p class="brand"><bdi>${brand}</bdi></p>
<h1>${period.name}</h1>
${summary === "" ? "" : html`<p class="summary">${summary}</p>\n`}${proofBadge(report)}</header>
<main>
${sections.map((write) => write(telling))}</main>
<footer><p>Made ${timeOf(report.made_at)} by brandapi, from this brand's mirror alone.</p></footer>
</body>
</html>
`.text;
}

function proofBadge({ proof, reached }: Report): Html {
  const isProven = proof.against === null && proof.proven !== null;
  const through = dayName((proof.proven?.through ?? reached).slice(0, 10));
  return isProven
    ? html`<p class="badge"><a href="#proof">Proven through ${through}</a></p>\n`
    : html`<p class="badge"><a href="#proof">Read up to ${dayName(reached.slice(0, 10))}, not proven</a></p>\n`;
}
