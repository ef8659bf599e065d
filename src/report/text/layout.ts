import type { Style } from "../../ui/style.js";
import { type Cell, renderTable } from "../../ui/table.js";

/** How the terminal shows it. */
export interface TextLook {
  style: Style;
  /** Whether the terminal draws block characters. */
  unicode: boolean;
  width: number;
}

export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: { style: Style; width: number; spare?: readonly string[] },
): string {
  const words = ["currency", "month", "order", "host", "what"];
  return renderTable(titles, rows, {
    ...options,
    alignRight: titles.filter((title) => !words.includes(title)),
  });
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
