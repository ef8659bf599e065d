import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

// The bundle is written to a folder from which Node can resolve installed packages. The program under test runs from
// `dist`.
export default defineConfig({
  input: { run: at("run.ts") },
  platform: "node",
  external: /^[^./]/,
  output: { dir: at("../../node_modules/.cache/brandapi-soak"), entryFileNames: "[name].mjs" },
});
