import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { minifySync } from "rolldown/utils";

/**
 * `npm run build`: the program as few files: loading many small ones costs more than running them. Packages stay packages
 * (but for the one that draws), names stay as they are, and source maps lead back to `src`. What `main` needs at once is one file; what a command loads when it
 * runs is one more. By rolldown's own function, since its command prints a line for each of them.
 */
const source = fileURLToPath(new URL("../src", import.meta.url));
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const main = `${source}/main.ts`;
/**
 * What draws the charts of `report`: whole it would make an install 60 MB larger, so what is used of it is joined into a
 * file of its own, which only `report` loads.
 */
const drawing = ["echarts", "zrender", "tslib"];
const isDrawing = (/** @type {string} */ id) => drawing.some((name) => id.includes(`/node_modules/${name}/`));
/** @type {Set<string> | undefined} */
let neededAtStart;

/** @type {(id: string, context: import("rolldown").ChunkingContext) => string | null} */
function chunkOf(id, context) {
  if (isDrawing(id)) return "echarts";
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
  // Leaves out what the library says to its developers.
  transform: { define: { "process.env.NODE_ENV": '"production"' } },
  external: (id) => /^[^./]/.test(id) && !drawing.includes(id.split("/")[0] ?? ""),
  output: {
    dir: dist,
    cleanDir: true,
    format: "esm",
    sourcemap: true,
    minifyInternalExports: false,
    entryFileNames: "[name].js",
    chunkFileNames: fileName,
    codeSplitting: { groups: [{ name: chunkOf, debugName: "start" }] },
  },
});

// Nobody debugs a library here, so it comes small and without a map; its licences come with it.
const joined = `${dist}/echarts.js`;
const { code } = minifySync(joined, readFileSync(joined, "utf8").replace(/\n\/\/# sourceMappingURL=.*/, ""));
writeFileSync(joined, `/*! Apache ECharts and zrender, parts of them: see echarts.LICENSE.txt */\n${code}`);
rmSync(`${joined}.map`);
const require = createRequire(import.meta.url);
const ofCharts = createRequire(require.resolve("echarts/package.json"));
const notices = [
  [require.resolve("echarts/package.json"), "LICENSE"],
  [require.resolve("echarts/package.json"), "NOTICE"],
  [ofCharts.resolve("zrender/package.json"), "LICENSE"],
  [ofCharts.resolve("tslib"), "LICENSE.txt"],
].map(([inRoot, file]) => {
  const folder = dirname(inRoot);
  return `${basename(folder)}, ${file}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(`${dist}/echarts.LICENSE.txt`, notices.join("\n\n"));
