import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten, wrap } from "./width.js";

/**
 * Returns lines of `label  value`, the values in one column and escaped, without a trailing newline.
 * @param width the terminal's columns, to wrap long values; undefined: one line each
 */
export function renderFacts(
  facts: readonly (readonly [label: string, value: string])[],
  { style, width }: { style: Style; width?: number | undefined },
): string {
  const labelWidth = Math.max(0, ...facts.map(([label]) => displayWidth(label)));
  const indent = " ".repeat(labelWidth + 2);
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - indent.length;
  return facts
    .map(([label, value]) => {
      const lines = wrap(escapeText(shorten(value)), room);
      return `${style.dim(pad(label, labelWidth))}  ${lines.join(`\n${indent}`)}`;
    })
    .join("\n");
}
