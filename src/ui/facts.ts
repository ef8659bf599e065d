import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad } from "./width.js";

/** Lines of `label  value`, the values in one column and escaped; without a trailing newline. */
export function renderFacts(
  facts: readonly (readonly [label: string, value: string])[],
  style: Style,
): string {
  const width = Math.max(0, ...facts.map(([label]) => displayWidth(label)));
  return facts.map(([label, value]) => `${style.dim(pad(label, width))}  ${escapeText(value)}`).join("\n");
}
