import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * Bundles the program into a few files, because loading many small files is slow. One bundle contains everything that
 * is needed at every start, and each module that a command loads later is in a separate bundle. Installed packages are
 * not bundled. This script uses rolldown's API because the rolldown command prints one line per file.
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
 * Names a bundle after its module: `src/api/client.ts` becomes `api-client.js`. Like `src`, the folder with the bundles
 * is one level below the root, so relative paths work in both.
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
