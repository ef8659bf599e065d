import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  input: { run: at("run.ts") },
  platform: "node",
  external: /^[^./]/,
  output: { dir: at("../../node_modules/.cache/brandapi-mutation"), entryFileNames: "[name].mjs" },
});
