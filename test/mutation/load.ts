import { readdirSync } from "node:fs";

// Loads all modules before the first test. Otherwise, Stryker would attribute a module's top-level code to the first
// test that imports the module, and would run only that test against mutants of the code.
const folder = new URL(`../../src/${process.env.FOLDER ?? "sync"}/`, import.meta.url);
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
  if (file.endsWith(".ts")) await import(new URL(file, folder).href);
