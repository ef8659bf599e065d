/** The two shades of the accent color are distinguishable for color-blind readers. */
export const stylesheet = `
:root { color-scheme: light dark; --paper: #fff; --ink: #16191d; --soft: #59636e; --line: #e3e6ea; --accent: #0a5ea8; --tint: #9cc4e8 }
@media (prefers-color-scheme: dark) {
  @media not print { :root { --paper: #121518; --ink: #e9ecef; --soft: #a2acb7; --line: #2b3138; --accent: #74b6f3; --tint: #2f5f8c } }
}
* { box-sizing: border-box }
html { background: var(--paper); -webkit-text-size-adjust: 100% }
body {
  margin: 0 auto; max-width: 68rem; padding: clamp(1rem, 4vw, 3.5rem); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1, h2, h3, p, dl, dd, figure { margin: 0; padding: 0 }
h1 { font-size: 40px; line-height: 1.15 }
h2 { font-size: 26px; line-height: 1.2 }
h3, caption, figcaption { font-size: 16px; line-height: 1.35; font-weight: 600; text-align: left }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px }
code { font: inherit; color: var(--ink) }
bdi { display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; vertical-align: top }
.brand, .lead, .note, .key, dt, thead th, dd span { color: var(--soft) }
.brand, .summary { font-size: 20px }
.note, .key, dt, thead th, dd span { font-size: 13px; font-weight: 400 }
.summary, .lead, section > p { max-width: 46rem }
.summary { margin: .75rem 0; text-wrap: balance }

section { margin-top: 4rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 3rem }
section > * { grid-column: 1 / -1; min-width: 0 }
section > .half { grid-column: auto }
.lead { margin-top: .5rem }
section > h3, section > p, section > div, figure { margin-top: 1.75rem }
section > .lead, section > h3 + dl, section > p + p { margin-top: .5rem }

dl { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; border-top: 1px solid var(--line); padding-top: .75rem }
dl > div { flex: 1 1 9.5rem }
dd b { font-size: 20px; line-height: 1.4; font-weight: 600; white-space: nowrap }
dd b, dd > span { display: block }
/* The text below a number does not widen its column. */
dd > span { width: 0; min-width: 100% }
em { font-style: normal; color: var(--ink); font-weight: 600 }

.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem }
.chart { display: block; width: calc(100% - 3.25rem); height: 14rem; margin: 1rem 0 0 3.25rem; overflow: visible }
figure { padding-bottom: 2rem }
.chart text { fill: var(--soft); font-size: 13px }
.grid { stroke: var(--line) }
.bar0 { fill: var(--accent) }
.bar1 { fill: var(--tint) }

table { width: 100%; border-collapse: collapse; font-size: 14px; line-height: 1.35 }
caption { padding-bottom: .5rem }
caption .note { margin-left: .75rem; white-space: nowrap }
th, td { padding: .45rem 0 .45rem 1rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400 }
th:first-child { padding-left: 0 }
thead th { vertical-align: bottom; overflow-wrap: normal }
tbody th { min-width: 5rem }
.number { text-align: right }
tbody .number, .short { white-space: nowrap }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 13px }

@media screen and (max-width: 900px) {
  dl > div { flex: 0 1 13rem }
  table { font-size: 13px }
  th, td { padding-left: .5rem }
}
@media screen and (max-width: 640px) {
  h1 { font-size: 28px }
  h2 { font-size: 20px }
  .brand, .summary { font-size: 16px }
  section { margin-top: 3rem }
  .spare { display: none }
  dl > div { flex-basis: calc(50% - .75rem) }
  .chart { height: 9rem }
  th, td { padding-left: .4rem }
  tbody th { min-width: 2.5rem }
}

@page { margin: 12mm 15mm }
@media print {
  body { padding: 0; max-width: none; font-size: 10pt }
  h1 { font-size: 20pt }
  h2 { font-size: 14pt }
  h3, caption, figcaption { font-size: 10.5pt }
  .brand, .summary { font-size: 12pt }
  .summary, .lead, section > p { max-width: none }
  .note, .key, dt, thead th, dd span, .chart text, footer { font-size: 7.5pt }
  section, footer { margin-top: 7mm }
  section { display: block; orphans: 1; widows: 1 }
  p { orphans: 2; widows: 2 }
  figure { padding-bottom: 6mm }
  section > h3, section > p, section > div, figure { margin-top: 6mm }
  section > .lead, section > h3 + dl, section > p + p { margin-top: 2mm }
  section > .half { display: inline-block; width: 48%; vertical-align: top }
  section > .half:nth-of-type(odd) { margin-right: 3% }
  dl { gap: 2mm 3mm; padding-top: 2mm }
  dl > div { flex-basis: 7rem }
  dd b { font-size: 12pt }
  .chart { height: 28mm; margin-top: 3mm; print-color-adjust: exact; -webkit-print-color-adjust: exact }
  .key svg { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  table { font-size: 8pt }
  th, td { padding: .12rem 0 .12rem .6rem }
  a { color: inherit; text-decoration: none }
  h2, h3, .lead, .key, caption, thead, figcaption { break-after: avoid }
  figure, tr, dl, .keep, #proof { break-inside: avoid }
  footer { break-before: avoid }
  tbody tr:nth-child(-n+2):not(:last-child), tbody tr:nth-last-child(2), tbody tr:nth-last-child(3) { break-after: avoid }
}
`;
