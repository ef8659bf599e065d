import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { afterFile } from "./home.js";

type FileFunctions = Pick<typeof files, "link" | "open" | "writeFile">;

/** Replaces a function of `node:fs/promises` in all modules until the test file ends. */
export function replaceFileFunction<Name extends keyof FileFunctions>(
  name: Name,
  replace: (original: FileFunctions[Name]) => FileFunctions[Name],
): void {
  const functions: FileFunctions = files;
  const original = functions[name];
  const assign = (value: FileFunctions[Name]) => {
    functions[name] = value;
    syncBuiltinESMExports();
  };
  assign(replace(original));
  afterFile(() => assign(original));
}
