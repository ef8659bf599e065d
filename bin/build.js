import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * `npm run build` bundles the program into a few files, because loading many small files is slow. One file contains
 * everything that is needed at every start. Each module that a command loads later gets a separate file. Packages are
 * not bundled. The script calls rolldown's API, because rolldown's command line prints one line per file.
 */
const source = fileURLToPath(new URL("../src", import.meta.url));
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const main = `${source}/main.ts`;
/** @type {Set<string> | undefined} */
let neededAtStart;

/** @type {(id: string, context: import("rolldown").ChunkingContext) => string | null} */
function chunkOf(id, context) {
  neededAtStart ??= collect(main, context, new Set());
  return neededAtStart.has(id) ? "start" : null;
}

/** @type {(id: string, context: import("rolldown").ChunkingContext, found: Set<string>) => Set<string>} */
function collect(id, context, found) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of context.getModuleInfo(id)?.importedIds ?? []) collect(imported, context, found);
  return found;
}

/**
 * Returns a bundle's file name: `src/sync/run.ts` becomes `sync-run.js`. All bundles are in one folder, which is one
 * level below the root, like `src`.
 */
function fileName({ name, facadeModuleId, moduleIds }) {
  const id = facadeModuleId ?? (name === "start" ? undefined : moduleIds.at(-1));
  if (!id?.startsWith(source)) return `${name}.js`;
  return `${relative(source, id).replace(/\.ts$/, "").replaceAll("/", "-")}.js`;
}

await build({
  input: { main },
  platform: "node",
  logLevel: "warn",
  external: /^[^./]/,
  output: {
    dir: dist,
    cleanDir: true,
    format: "esm",
    sourcemap: true,
    comments: false,
    minifyInternalExports: false,
    entryFileNames: "[name].js",
    chunkFileNames: fileName,
    codeSplitting: { groups: [{ name: chunkOf, debugName: "start" }] },
  },
});
