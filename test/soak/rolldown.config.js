import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";

/** The soaks, made runnable beside the installed packages. The program itself runs from `dist`. */
const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  input: { run: at("run.ts") },
  platform: "node",
  external: /^[^./]/,
  output: { dir: at("../../node_modules/.cache/brandapi-soak"), entryFileNames: "[name].mjs" },
});
