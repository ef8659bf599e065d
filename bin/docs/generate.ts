import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { ExitCode } from "../../src/errors.js";
import { formats } from "../../src/export/formats.js";
import { resources } from "../../src/resources/registry.js";
import { detailsResource } from "../../src/resources/resource.js";
import { listTableShapes } from "../../src/resources/table-shape.js";
import { systemTables } from "../../src/store/schema.js";
import { views } from "../../src/views/all-views.js";
import { pageQueries } from "./example-queries.js";
import { programTree } from "./program.js";

const paths = [
  "README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
  "src/README.md",
  "src/commands/README.md",
  "src/config/README.md",
  "src/sync/README.md",
  "src/api/README.md",
  "src/export/README.md",
  "src/delta/README.md",
  "src/query/README.md",
  "src/report/README.md",
  "src/resources/README.md",
  "src/store/README.md",
  "test/bench/README.md",
  "test/package/README.md",
  "test/properties/README.md",
] as const;

interface Document {
  path: string;
  url: URL;
  text: string;
}

export const root = pathToFileURL(`${process.cwd()}/`);

export const documents: readonly Document[] = paths.map((path) => {
  const url = new URL(path, root);
  return { path, url, text: readFileSync(url, "utf8") };
});

const marked = /(<!-- generated: ([a-z -]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** Replaces the text between each pair of the markers `<!-- generated: NAME -->` and `<!-- /generated -->`. */
export function regenerate(text: string): string {
  return text.replace(marked, (_, start: string, name: string, end: string) => {
    const section = sections[name];
    if (section === undefined) throw new Error(`Unknown generated section: ${name}`);
    return `${start}\n${section()}\n\n${end}`;
  });
}

/** The description of each exit code on the generated commands page. */
const exitMeanings: Record<ExitCode, string> = {
  0: "done",
  1: "a bug in the program",
  2: "usage: an unknown option, resource or value",
  3: "configuration: no key or base URL, unsafe permissions, an incorrect system clock, or a mirror that is unreadable or damaged, was created by a newer version, or belongs to a different brand",
  4: "401: the key is missing, unknown, expired or revoked",
  5: "403 or 402: the scope, the IP allowlist or the plan does not allow the request",
  6: "the API is still unavailable (network, 429, 5xx) after all retries",
  7: "a response does not match the API's documentation",
  8: "incomplete: only part of the work succeeded, `verify` found differences, or the API denied access to a resource that was synced before",
  9: "busy: another run is using this mirror",
  10: "stale: a resource's last successful sync is older than `status --max-age` allows, there is a gap in the dates that were read, or the last sync was denied access to the resource",
  129: "stopped by SIGHUP (the terminal was closed)",
  130: "stopped by Ctrl-C (SIGINT)",
  143: "stopped by SIGTERM",
};

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
      // List each description only up to the first semicolon, because the rest does not describe a row. `brandapi
      // tables NAME` prints the full description.
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
