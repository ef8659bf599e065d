import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

/** Bundles the soak tests next to the installed packages. The program under test runs from `dist`. */
const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  input: { run: at("run.ts") },
  platform: "node",
  external: /^[^./]/,
  output: { dir: at("../../node_modules/.cache/brandapi-soak"), entryFileNames: "[name].mjs" },
});
