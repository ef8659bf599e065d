import { readdirSync } from "node:fs";

/**
 * Loads the modules that commands load on demand. Modules are not reloaded for each mutant, so without this, only the
 * first test that loads a module would appear to cover its constants.
 */
const folder = new URL(`../../src/${process.env.FOLDER ?? "sync"}/`, import.meta.url);
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
  if (file.endsWith(".ts")) await import(new URL(file, folder).href);
