import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

/** Bundles the benchmark's helper programs. The program under test runs from `dist`. */
const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  input: { run: at("run.ts"), server: at("server.ts"), floor: at("floor.ts"), fill: at("fill.ts") },
  platform: "node",
  external: /^[^./]/,
  output: { dir: at("../../node_modules/.cache/brandapi-bench"), entryFileNames: "[name].mjs" },
});
