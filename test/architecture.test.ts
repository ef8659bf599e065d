import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));

/** The folders and files of `src` that each of them may import, besides itself, `errors.ts` and `deps.ts`. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["program.ts", "signals.ts", "cli", "config", "util", "api"],
  "program.ts": ["commands", "cli", "config", "util"],
  "signals.ts": [],
  "errors.ts": [],
  "deps.ts": ["signals.ts"],
  commands: [
    "cli",
    "demo",
    "config",
    "sync",
    "verify",
    "export",
    "report",
    "download",
    "sandbox",
    "query",
    "store",
    "resources",
    "util",
  ],
  demo: ["cli", "config", "sandbox", "verify", "store", "resources", "util"],
  cli: ["config", "sync", "export", "query", "store", "api", "resources", "util"],
  config: ["util"],
  verify: ["sync", "store", "api", "resources", "util"],
  sync: ["store", "api", "resources", "util"],
  export: ["query", "store", "resources", "util"],
  report: ["query", "store", "resources", "util"],
  download: ["query", "store", "api", "resources", "util"],
  query: ["store", "resources", "util"],
  store: ["resources", "util"],
  api: ["util"],
  resources: ["util"],
  sandbox: ["util"],
  util: [],
};

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));

/** Returns the files of `src` that a file imports, as paths below `src`. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), "utf8");
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport\() ?"(\.[^"]+)\.js"/g)];
  return specifiers.map(([, path]) => relative(src, join(src, dirname(file), `${path}.ts`)));
}

const layerOf = (file: string) => file.split("/")[0] ?? "";

describe("the folders of src", () => {
  it("import only the folders below them", () => {
    const forbidden = files.flatMap((file) =>
      importsOf(file)
        .filter((path) => !["errors.ts", "deps.ts", layerOf(file)].includes(layerOf(path)))
        .filter((path) => !allowed[layerOf(file)]?.includes(layerOf(path)))
        .map((path) => `${file} imports ${path}`),
    );
    expect(forbidden).toEqual([]);
  });

  it("have no two files of the same name", () => {
    const names = files.map((file) => file.split("/").at(-1));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
