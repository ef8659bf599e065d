import type { Block, Cell, Column, Document, Figure } from "./document.js";

/** Returns the document as plain data: figures as numbers, rows of tables as objects. */
export function writeJson({ sections, ...head }: Document): Record<string, unknown> {
  return {
    ...head,
    sections: sections.map((section) => ({ ...section, blocks: section.blocks.map(plain) })),
  };
}

function plain(block: Block): object {
  if (block.kind === "table") {
    const { columns, rows, is_folded: _, ...rest } = block;
    return { ...rest, rows: rows.map((row) => rowOf(columns, row)) };
  }
  if (block.kind === "figures") return { ...block, figures: block.figures.map(figureOf) };
  if (block.kind === "list") return { ...block, items: block.items.map(({ value }) => value) };
  if (block.kind === "chart") {
    const { axis: _, ...rest } = block;
    return rest;
  }
  return block;
}

function rowOf(columns: readonly Column[], row: readonly Cell[]): object {
  return Object.fromEntries(columns.map(({ key }, index) => [key, row[index]?.value ?? null]));
}

function figureOf({ title, value, comparisons }: Figure): object {
  const values = comparisons.map(({ change, before, ...rest }) => ({
    ...rest,
    change: change.value,
    before: before.value,
  }));
  return { title, value: value.value, comparisons: values };
}
