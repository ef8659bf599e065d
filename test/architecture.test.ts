import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));

/**
 * The modules that each folder or file in `src` may import. Every file may also import `errors.ts`, `version.ts`, the
 * types in `deps.ts`, and other files in the same folder.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["program.ts", "signals.ts", "deps.ts", "cli", "config", "util", "api"],
  "program.ts": ["commands", "cli", "config", "util"],
  "signals.ts": [],
  "errors.ts": [],
  "version.ts": [],
  "deps.ts": [],
  commands: [
    "cli",
    "demo",
    "delta",
    "config",
    "sync",
    "verify",
    "export",
    "report",
    "download",
    "sandbox",
    "query",
    "store",
    "views",
    "resources",
    "util",
  ],
  demo: ["cli", "config", "sandbox", "verify", "store", "util"],
  delta: ["cli", "config", "export", "query", "store", "resources", "util"],
  cli: ["config", "sync", "export", "query", "store", "api", "resources", "util"],
  config: ["util"],
  verify: ["sync", "store", "api", "resources", "util"],
  sync: ["store", "api", "resources", "util"],
  export: ["query", "store", "resources", "util"],
  report: ["query", "store", "views", "resources", "util"],
  download: ["query", "store", "api", "resources", "util"],
  query: ["store", "views", "resources", "util"],
  store: ["views", "resources", "util"],
  views: ["resources", "util"],
  api: ["util"],
  resources: ["util"],
  sandbox: ["util"],
  util: [],
};

interface Import {
  /** The path of the imported file, relative to `src`. */
  path: string;
  /** True for a type import, which loads nothing at runtime. */
  isTypeOnly: boolean;
  isDynamic: boolean;
}

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), "utf8");
  const statements = text.matchAll(
    /\bimport (?<clause>type [^;]*?|[^;"(]*?)\s*from "(?<from>\.[^"]+)"|\bimport\("(?<dynamic>\.[^"]+)"\)/g,
  );
  return Array.from(statements, ({ groups = {} }) => {
    const { clause = "", from, dynamic = "" } = groups;
    const names = clause.replace(/[{}]/g, "").split(",");
    const isTypeOnly = clause.startsWith("type ") || names.every((name) => /^\s*type |^\s*$/.test(name));
    const target = join(src, dirname(file), (from ?? dynamic).replace(/\.js$/, ".ts"));
    return { path: relative(src, target), isTypeOnly: from !== undefined && isTypeOnly, isDynamic: !from };
  });
}

const layerOf = (file: string) => file.split("/")[0] ?? "";

/** Returns the imports that load a module when the file is loaded: neither type imports nor dynamic imports. */
const loads = (file: string) =>
  (imports.get(file) ?? []).filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic);

/** Returns import cycles such as `a > b > a`, at most one per file. */
function findCycles(): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" > "));
    if (path.includes(file) || done.has(file)) return;
    for (const each of loads(file)) visit(each.path, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return cycles;
}

/** The exports that all command modules or all format modules have in common. */
const interfaceMembers = ["about", "examples", "define", "run", "encode"];

/** Returns each name that several files export, followed by those files, as in `Range: a.ts, b.ts`. */
function findDuplicateNames(): string[] {
  const filesByName = new Map<string, string[]>();
  const exported = new Set<string>();
  for (const file of files) {
    const statements = readFileSync(join(src, file), "utf8").matchAll(
      /^(export )?(?:async |abstract )*(?:function\*?|class|interface|type|const) (\w+)/gm,
    );
    for (const [, isExport, name = ""] of statements) {
      filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
      if (isExport) exported.add(name);
    }
  }
  return [...exported]
    .filter((name) => !interfaceMembers.includes(name) && filesByName.get(name)?.length !== 1)
    .map((name) => `${name}: ${filesByName.get(name)?.join(", ")}`);
}

test("files in src import only from lower layers", () => {
  const forbidden = files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter(({ path }) => !["errors.ts", "version.ts"].includes(path) && layerOf(path) !== layerOf(file))
      .filter(({ path, isTypeOnly }) => path !== "deps.ts" || !isTypeOnly)
      .filter(({ path }) => !allowed[layerOf(file)]?.includes(layerOf(path)))
      .map(({ path }) => `${file} imports ${path}`),
  );
  expect(forbidden).toEqual([]);
});

test("files in src have no import cycles", () => {
  expect(findCycles()).toEqual([]);
});

test("commands load the code for Parquet files and Delta tables only when they need it", () => {
  const loaded = new Set(files.filter((file) => layerOf(file) === "commands"));
  // Iterating over a set includes the files that are added during the loop.
  for (const file of loaded) for (const { path } of loads(file)) loaded.add(path);
  expect([...loaded].filter((file) => /^(export\/parquet|delta\/)/.test(file))).toEqual([]);
});

test("files in src have unique names", () => {
  const names = files.map((file) => file.split("/").at(-1));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("each name exported in src is declared in only one file", () => {
  expect(findDuplicateNames()).toEqual([]);
});

/** Identifiers from other programs that comments and pages in `src` mention. */
const foreignNames = ["ProgramArguments", "StartCalendarInterval", "deltaLake"];

const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm;

/** Returns the identifiers in backticks, such as `readRange` or `Mirror.path`, that do not occur in any code. */
function findUnknownNames(): string[] {
  const pages = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".md"),
  );
  const texts = [...files, ...pages].map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }));
  const codeBlock = /^```[\s\S]*?^```$/gm;
  const isPage = (file: string) => file.endsWith(".md");
  const code = texts.flatMap(({ file, text }) =>
    isPage(file) ? (text.match(codeBlock) ?? []) : text.replace(comment, ""),
  );
  const known = new Set([...foreignNames, ...code.flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? [])]);
  return texts.flatMap(({ file, text }) => {
    const prose = isPage(file) ? text.replace(codeBlock, "") : (text.match(comment) ?? []).join("\n");
    const quoted = Array.from(prose.matchAll(/`([A-Za-z][\w.]*)(?:\([^`]*\))?`/g), ([, name = ""]) => name);
    const names = quoted.flatMap((name) => name.split(".")).filter((name) => /[a-z][A-Z]/.test(name));
    return names.filter((name) => !known.has(name)).map((name) => `${file}: ${name}`);
  });
}

test("comments and pages in src mention only identifiers that exist", () => {
  expect(findUnknownNames()).toEqual([]);
});
