import { escapeText } from "../util/terminal-text.js";

/** A piece of HTML that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

export type HtmlPart = Html | string | number | readonly HtmlPart[];

/** A template tag that builds HTML, as in html`<td>${name}</td>`. Values other than `Html` are escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, index) => text + textOf(values[index - 1] ?? "") + string));
}

/** Renders text from the API, and isolates it so that its writing direction does not affect the rest of the page. */
export function renderName(text: string): Html {
  return html`<bdi>${escapeText(text)}</bdi>`;
}

/** Renders a sentence. Text in backticks is rendered as `<code>`. */
export function renderSentence(text: string): Html {
  const parts = escapeText(text).split("`");
  return html`${parts.map((part, nth) => (nth % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function textOf(value: HtmlPart): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
