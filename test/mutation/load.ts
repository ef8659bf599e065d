import { readdirSync } from "node:fs";

/**
 * Loads what commands load only when they need it. Otherwise a constant of such a module seems to be covered by one test,
 * and to survive, because the module is not loaded again for each mutant.
 */
const room = new URL(`../../src/${process.env.ROOM ?? "sync"}/`, import.meta.url);
for (const file of readdirSync(room, { recursive: true, encoding: "utf8" }))
  if (file.endsWith(".ts")) await import(new URL(file, room).href);
