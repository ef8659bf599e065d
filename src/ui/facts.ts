import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten } from "./width.js";

/**
 * Lines of `label  value`, the values in one column, escaped, and cut where they are very long; without a trailing
 * newline.
 * @param width the terminal's columns, to wrap long values at their blanks; undefined: one line each
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

/** Returns the lines of a text that is wrapped at its blanks. */
export function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = "";
  let taken = 0;
  for (const word of text.split(" ")) {
    const width = displayWidth(word);
    if (line !== "" && taken + 1 + width > room) {
      lines.push(line);
      line = "";
    }
    taken = line === "" ? width : taken + 1 + width;
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
