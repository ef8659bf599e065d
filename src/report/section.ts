import type { Report } from "./figures.js";
import { type Html, html, type Piece, trusted } from "./html.js";
import type { Numbers } from "./numbers.js";

/** What every section is made from. */
export interface Telling {
  report: Report;
  numbers: Numbers;
  /** Draws a chart, at the widths that the page needs. */
  draw: Draw;
}

export type Draw = (chart: Chart) => Html;

/** What a chart shows; its words are on the page already, so nothing of it is in a picture alone. */
export interface Chart {
  /** What it shows in one sentence, for who cannot see it. */
  about: string;
  /** The room that it needs: `wide` beside nothing, `half` beside its table. */
  room: "wide" | "half";
  height: number;
  /** ECharts' option, for so many pixels of width. */
  option(width: number): object;
}

/** A part of the page under a heading that can be linked to. */
export function section(id: string, title: string, lead: Piece, body: Piece): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${lead === null || lead === "" ? "" : html`<p class="lead">${lead}</p>\n`}${body}</section>
`;
}

/** What the lines and bars of a chart stand for. */
export function key(...entries: readonly [mark: "now" | "before" | "tint" | "tall", words: string][]): Html {
  const box = (shade: string) => `<rect width="10" height="10" class="${shade}"/>`;
  const marks = {
    now: '<rect y="3.5" width="18" height="3" class="now"/>',
    before: '<path d="M0 5h18" class="before"/>',
    tint: box("tint"),
    tall: box("now"),
  };
  const entry = ([mark, words]: readonly [keyof typeof marks, string]) =>
    html`<span><svg width="${mark === "now" || mark === "before" ? 18 : 10}" height="10" aria-hidden="true">${trusted(marks[mark])}</svg>${words}</span>`;
  return html`<p class="key">${entries.map(entry)}</p>\n`;
}

/** Figures that can be looked at, and otherwise take no room. */
export function behind(summary: string, body: Html): Html {
  return html`<details><summary>${summary}</summary>\n${body}</details>\n`;
}
