import { exampleFor } from "../../src/query/examples.js";
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

/** Returns the documents' parts that follow from the registries of resources, tables and views. */
export function referenceSections(): [name: string, text: string][] {
  return [
    ["resources", overview()],
    ["tables", [...resources, ...details].map(resourceText).join("\n\n")],
    ["views", views.map(viewText).join("\n")],
    ["system tables", systemText()],
  ];
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

function viewText({ name, about }: View): string {
  return wrap(`- **\`${name}\`**: ${about.split(";")[0]}`, 108, "  ");
}

function systemText(): string {
  return Object.entries(systemTables)
    .map(([name, about]) => wrap(`- **\`${name}\`**: ${about}`, 108, "  "))
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
