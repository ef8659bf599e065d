import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const paths = [
  "README.md",
  "src/README.md",
  "src/commands/README.md",
  "src/config/README.md",
  "src/sync/README.md",
  "src/api/README.md",
  "src/export/README.md",
  "src/export/delta/README.md",
  "src/query/README.md",
  "src/resources/README.md",
  "test/bench/README.md",
  "test/package/README.md",
] as const;

export interface Document {
  path: string;
  url: URL;
  text: string;
}

export const root = pathToFileURL(`${process.cwd()}/`);

export const documents: readonly Document[] = paths.map((path) => {
  const url = new URL(path, root);
  return { path, url, text: readFileSync(url, "utf8") };
});
