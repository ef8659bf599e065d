import { escapeText } from "../ui/text.js";
import { shorten } from "../ui/width.js";

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

export type Piece = Html | string | number | null | undefined | false | readonly Piece[];

/** HTML whose values are escaped, but for what is HTML already: html`<td>${name}</td>`. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(strings.reduce((text, string, index) => text + textOf(values[index - 1]) + string));
}

/** HTML of a library, as it is. */
export function trusted(text: string): Html {
  return new Html(text);
}

/**
 * A name that a host chose, or a title, or a file's name: what would be invisible is shown, and its direction is its own
 * matter (contract, section 7).
 */
export function name(text: string | null, none: string): Html {
  if (text === null || text === "") return html`<i>${none}</i>`;
  return html`<bdi>${escapeText(shorten(text))}</bdi>`;
}

/** Words with commands between backticks, as they are printed in a terminal. */
export function ticked(text: string): Html {
  const parts = escapeText(text).split("`");
  return html`${parts.map((part, nth) => (nth % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function textOf(value: Piece): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
