import { createRequire } from "node:module";

/** This program's version, from package.json. */
export const version: string = (createRequire(import.meta.url)("../package.json") as { version: string })
  .version;
