import { type Command, Option } from "commander";
import { type ReadSession, withReadSession } from "../cli/read-session.js";
import { resolveTableName } from "../cli/table-selection.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context } from "../deps.js";
import { UsageError } from "../errors.js";
import {
  listTableDescriptions,
  loadTableDescription,
  type TableDescription,
} from "../query/table-descriptions.js";
import { formatCount, pluralize } from "../util/format-text.js";
import { printJson, wrap } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";

type TablesFlags = GlobalFlags & { all?: boolean; delta?: string };

export const about =
  "With a name, shows an example query and, for each column, its type and the number of rows that have a value. " +
  "Tables contain current records; removed records are in `TABLE_removed`. Requires no key or network access.";

export const examples = {
  "brandapi tables": "list all tables and views",
  "brandapi tables restatements": "describe a view's columns",
};

export function define(command: Command): void {
  command
    .argument("[table]", "spelled with - or _")
    .option("--all", "also list tables with removed records, and helper views")
    .addOption(
      new Option("--delta <folder>", "list a folder's Delta tables and the verified range of each").conflicts(
        "all",
      ),
    )
    .option("--json", "print JSON: a list or, for one table, an object");
}

export async function run(flags: TablesFlags, context: Context, name: string | undefined): Promise<void> {
  const { all = false, delta, json } = flags;
  if (all && name !== undefined)
    throw new UsageError("`--all` applies only to the list of tables.", {
      hint: `omit \`--all\` or \`${name}\``,
    });
  if (delta !== undefined) {
    const { printDeltaTables } = await import("../delta/delta-commands.js");
    return await printDeltaTables(flags, context, name ? [name] : []);
  }
  const { stdout } = context.deps;
  await withReadSession(flags, context.deps, async (session) => {
    const { mirror } = session;
    const facts =
      name === undefined
        ? listTableDescriptions(mirror, { all })
        : loadTableDescription(mirror, resolveTableName(name));
    if (json) printJson(stdout, facts);
    else
      stdout.write(
        Array.isArray(facts) ? formatTableList(facts, session) : formatTableDetails(facts, session),
      );
  });
}

function formatTableList(tables: readonly TableDescription[], { width, style }: ReadSession): string {
  const lines = tables.map(({ name, kind, rows, about }) => {
    const count = rows === null ? "not synced" : formatCount(rows);
    return [name, kind === "view" ? "view" : count, about.split(";")[0] ?? ""];
  });
  const options = { width, style, rightAligned: ["rows"], wrapsLastColumn: true };
  return `${renderTable(["name", "rows", "about"], lines, options)}\n`;
}

function formatTableDetails(
  { name, about, rows, columns, example }: TableDescription,
  { width, style }: ReadSession,
): string {
  const count = rows === null ? "not synced yet" : pluralize(rows, "row");
  const titles = ["column", "type", ...(rows === null ? [] : ["with a value"]), "about"];
  const cells = columns.map((column) => [
    column.name,
    column.type,
    ...(rows === null ? [] : [formatShare(column.rows_with_value ?? 0, rows)]),
    column.about,
  ]);
  const options = {
    width,
    style,
    rightAligned: ["with a value"],
    optionalColumns: ["type"],
    wrapsLastColumn: true,
  };
  const list = renderTable(titles, cells, options);
  const explanation = width === undefined ? about : wrap(about, width);
  return `${style.bold(`${name} (${count})`)}\n${explanation}\n\n${list}\n\n${style.dim("For example:")}\n${example};\n`;
}

/** Formats the number of rows that have a value in a column: `all`, `none`, or `12 (40 %)`. */
function formatShare(some: number, all: number): string {
  if (some === all) return "all";
  if (some === 0) return "none";
  return `${formatCount(some)} (${Math.floor((100 * some) / all)} %)`;
}
