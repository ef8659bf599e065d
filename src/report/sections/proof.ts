import { type Html, html, ticked } from "../html.js";
import { pageTable } from "../page-table.js";
import { section, type Telling } from "../section.js";
import { provenLine, readLines, timeOf, unknowable } from "../words.js";

/** What is proven, how fresh it is, and what nobody can know. */
export function proofSection({ report }: Telling): Html {
  return section("proof", "What is proven", ticked(provenLine(report)), [
    html`<p>${ticked(readLines(report).join(" "))}</p>
<div class="pair even"><div>
${pageTable(
  "Last read well",
  [
    { title: "Resource", cell: ({ resource }) => resource },
    { title: "Read", cell: ({ at }) => (at === null ? "never" : timeOf(at)), kind: "short" },
  ],
  report.proof.read,
)}</div>
<div><h3>What cannot be known</h3>
<ul class="plain">${unknowable.map((line) => html`<li>${line}</li>`)}</ul></div></div>
<p class="note">An order counts when it is neither removed nor cancelled. Net is gross less refunds. Days and months are UTC. Currencies are never added.</p>
`,
  ]);
}
