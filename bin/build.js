import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * `npm run build`: the program as few files, because loading many small ones costs more than running them. Packages stay
 * packages, names stay as they are, and source maps lead back to `src`. What `main` needs at once is one file; what a
 * command loads when it runs is one more. By rolldown's own function, since its command prints a line for each of them.
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

/** `src/sync/engine.ts` becomes `sync-engine.js`. All are in one folder: paths relative to a module stay true. */
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
