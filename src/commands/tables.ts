import { Command } from "commander";
import type { Deps } from "../deps.js";
import type { TableFacts } from "../query/index.js";
import { formatCount } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { examples } from "./help.js";

interface TablesFlags extends GlobalOptions {
  all?: boolean;
}

export function define(context: Context): Command {
  return new Command("tables")
    .description(
      "With a name: its columns, their types, and a query to begin with. Counts leave out records that the API no " +
        "longer has, as an export does. Needs no key and no network.",
    )
    .argument("[table]", "spelled with - or _")
    .option("--all", "also views that other views are made of")
    .option("--json", "the same as JSON: a list, or one object")
    .addHelpText(
      "after",
      examples(["brandapi tables", "all of them"], ["brandapi tables restatements", "what its columns mean"]),
    )
    .action((name: string | undefined, _, command: Command) =>
      context.deps.killable(() => runTables(name, command.optsWithGlobals(), context)),
    );
}

async function runTables(name: string | undefined, options: TablesFlags, { deps }: Context): Promise<void> {
  const { readSettings } = await import("../config/settings.js");
  const { knownTableNames, listFacts, openMirrorReadOnly, readFacts, withSnapshot } = await import(
    "../query/index.js"
  );
  const { styleFor } = await import("../ui/style.js");
  const { checkTableName } = await import("./table.js");
  const settings = await readSettings(options, deps);
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const facts = await withSnapshot(mirror, async () =>
      name === undefined
        ? listFacts(mirror, { all: options.all ?? false })
        : readFacts(mirror, checkTableName(name, knownTableNames())),
    );
    if (options.json) printJson(deps.stdout, facts);
    else
      deps.stdout.write(Array.isArray(facts) ? listText(facts, deps, style) : tableText(facts, deps, style));
  } finally {
    mirror.db.close();
  }
}

function listText(all: readonly TableFacts[], { stdout }: Deps, style: Style): string {
  const rows = all.map(({ name, kind, rows: count, about }) => [
    name,
    kind === "view" ? "view" : count === null ? "not synced" : formatCount(count),
    about.split(";")[0] ?? "",
  ]);
  const width = terminalWidth(stdout);
  return `${renderTable(["name", "rows", "about"], rows, { width, style, wrap: true, alignRight: ["rows"] })}\n`;
}

function tableText({ name, about, rows, columns, example }: TableFacts, deps: Deps, style: Style): string {
  const count = rows === null ? "not synced yet" : `${formatCount(rows)} ${rows === 1 ? "row" : "rows"}`;
  const width = terminalWidth(deps.stdout);
  const list = renderTable(
    ["column", "type", "about"],
    columns.map((column) => [column.name, column.type, column.about]),
    { width, style, wrap: true },
  );
  const title = renderTable([`${name} (${count})`], [[about]], { width, style, wrap: true });
  return `${title.trimEnd()}\n\n${list}\n\n${style.dim("For example:")}\n${example};\n`;
}
