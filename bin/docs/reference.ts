import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mirror } from "../../src/mirror/mirror.js";
import { exampleFor } from "../../src/query/examples.js";
import { openMirror } from "../../src/query/open.js";
import { describeTable } from "../../src/query/tables.js";
import { type View, views } from "../../src/query/views/index.js";
import { details, resources } from "../../src/resources/index.js";
import { type TableShape, tablesOf } from "../../src/resources/shape.js";
import { detailsOf, type Resource, type Strategy } from "../../src/resources/types.js";
import { anchorOf, table, wrap } from "./markdown.js";
import { systemTables } from "./system-tables.js";

const strategies: Readonly<Record<Strategy["kind"], string>> = {
  dated: "by date: a trailing window, old changes by counts, figures by day where there are some, and audit",
  full: "whole, each time",
  details: "the list whole, then details where they can have changed",
  monthly: "an answer a calendar month, the months that the window touches",
  snapshot: "whole, each time, with a snapshot a day",
};

/** The documents' parts that follow from the registries of resources, tables and views. */
export async function referenceSections(): Promise<[name: string, text: string][]> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-docs-"));
  const mirror = await openMirror(join(folder, "mirror.sqlite"));
  try {
    return [
      ["resources", overview()],
      ["tables", [...resources, ...details].map(resourceText).join("\n\n")],
      ["views", views.map(viewText).join("\n\n")],
      ["system tables", systemText(mirror)],
    ];
  } finally {
    mirror.db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tables of a mirror that neither a resource nor a view accounts for. */
export function ownTablesOf(mirror: Mirror): string[] {
  const typed = new Set([...resources, ...details].flatMap(tablesOf).map(({ name }) => name));
  const all = mirror.db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'")
    .pluck()
    .all() as string[];
  return all.filter((name) => !typed.has(name));
}

function overview(): string {
  return table(
    ["`sync` resource", "endpoints", "scope", "plan", "tables"],
    resources.map((resource) => [
      `[\`${resource.name}\`](#${anchorOf(titleOf(resource))})`,
      endpointsOf(resource).map(code).join(", "),
      code(resource.scope),
      resource.plan ?? "",
      [resource, detailsOf(resource) ?? []]
        .flat()
        .flatMap(tablesOf)
        .map(({ name }) => code(name))
        .join(", "),
    ]),
  );
}

function resourceText(resource: Resource): string {
  const parts = [
    `### ${titleOf(resource)}`,
    wrap(`${capital(resource.about)}. API document: ${resource.section}.`),
    wrap(
      `Endpoint ${endpointsOf(resource).map(code).join(" and ")}; scope ${code(resource.scope)}; ` +
        `plan: ${planOf(resource)}. Read ${strategies[resource.strategy.kind]}.`,
    ),
    ...tablesOf(resource).map(tableText),
  ];
  return parts.join("\n\n");
}

function tableText(shape: TableShape): string {
  const { name, about, columns, open } = shape;
  const rows = columns.map((column) => [code(column.name), column.type, column.about]);
  const more = open ? "Scalars that the API sends besides become columns when they are first seen.\n\n" : "";
  const list = rows.length > 0 ? `${table(["column", "type", "about"], rows)}\n\n` : "";
  return `<details><summary><code>${name}</code>: ${about}</summary>\n\n${list}${more}</details>\n\n${sql(exampleFor(name))}`;
}

function viewText({ name, about, columns, example }: View): string {
  const rows = columns.map((column) => [code(column.name), column.type, column.about]);
  const list = `<details><summary>its columns</summary>\n\n${table(["column", "type", "about"], rows)}\n\n</details>`;
  return [`### ${name}`, wrap(`${capital(about)}.`), list, sql(example)].join("\n\n");
}

function systemText(mirror: Mirror): string {
  return Object.entries(systemTables)
    .map(([name, about]) => {
      const columns = describeTable(mirror, name).columns.map((column) => code(column.name));
      return wrap(`- **\`${name}\`**: ${about}. ${columns.join(", ")}`, 108, "  ");
    })
    .join("\n");
}

function titleOf({ name }: Resource): string {
  return name;
}

function endpointsOf({ path, strategy }: Resource): string[] {
  if (strategy.kind !== "details") return [path];
  return [path, decodeURIComponent(strategy.path("{id}"))];
}

function planOf({ plan, pagination }: Resource): string {
  return plan ?? (pagination === "unknown" ? "not stated by the document" : "none");
}

function sql(statement: string): string {
  return `\`\`\`sql\n${statement};\n\`\`\``;
}

function code(text: string): string {
  return `\`${text}\``;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
