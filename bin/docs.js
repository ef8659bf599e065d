import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * Updates the generated parts of the documents, `src/store/schema.sql` and `src/views/views.sql` (`npm run docs`). With
 * `--pictures`, also renders the pictures, which requires Chromium.
 */
const dir = fileURLToPath(new URL("../.docs", import.meta.url));
const input = fileURLToPath(new URL("docs/write.ts", import.meta.url));
const output = { dir, entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" };
try {
  await build({ input, platform: "node", logLevel: "warn", external: /^[^./]/, output });
  await import(`${dir}/write.mjs`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
