import { formats } from "../../src/export/formats.js";
import { resources } from "../../src/resources/registry.js";
import { detailsResource } from "../../src/resources/resource.js";
import { listTableShapes } from "../../src/resources/table-shape.js";
import { systemTables } from "../../src/store/schema.js";
import { views } from "../../src/views/all-views.js";
import { pageQueries } from "./example-queries.js";
import { exitMeanings } from "./exit-codes.js";
import { programTree } from "./program.js";

const marked = /(<!-- generated: ([a-z -]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** Replaces the text between each pair of the markers `<!-- generated: NAME -->` and `<!-- /generated -->`. */
export function regenerate(text: string): string {
  return text.replace(marked, (_, start: string, name: string, end: string) => {
    const section = sections[name];
    if (section === undefined) throw new Error(`Unknown generated section: ${name}`);
    return `${start}\n${section()}\n\n${end}`;
  });
}

const program = await programTree();

const sections: Readonly<Record<string, () => string>> = {
  commands: () =>
    table(
      ["command", "purpose"],
      program.commands
        .filter((one) => one.name() !== "help")
        .map((one) => [`\`${one.name()}\``, one.summary()]),
    ),
  formats: () =>
    table(
      ["flag", "output", "extension of `-o`"],
      formats.map(({ about, extensions, name }) => [
        `\`--${name}\``,
        about,
        extensions.map((one) => `\`${one}\``).join(", "),
      ]),
    ),
  "exit codes": () => table(["code", "meaning"], Object.entries(exitMeanings)),
  resources: () =>
    table(
      ["`sync` resource", "endpoint", "scope", "tables"],
      resources.map((resource) => {
        const all = [resource, detailsResource(resource) ?? []].flat();
        const names = all.flatMap(listTableShapes).map(({ name }) => `\`${name}\``);
        return [`\`${resource.name}\``, `\`${resource.path}\``, `\`${resource.scope}\``, names.join(", ")];
      }),
    ),
  answers: () =>
    pageQueries.map(({ question, sql }) => `### ${question}\n\n\`\`\`sql\n${sql};\n\`\`\``).join("\n\n"),
  "system tables": () =>
    table(
      ["table", "contents"],
      Object.entries(systemTables).map(([name, about]) => [`\`${name}\``, about]),
    ),
  views: () =>
    table(
      ["view", "rows"],
      // Uses only the part before the semicolon, the description of a row. `brandapi tables NAME` prints the full
      // description.
      views
        .filter((one) => !one.isHelper)
        .map(({ about, name }) => [`\`${name}\``, about.split(";")[0] ?? ""]),
    ),
};

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}
