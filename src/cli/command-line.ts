import { parseArgs } from "node:util";
import { Command } from "commander";
import type { CommandLine } from "../deps.js";
import { addGlobalOptions } from "./flags.js";

/**
 * Reads the command and a few global flags without validating them. The program uses the result to load the command and
 * to redact the keys in use before commander parses the command line, and to print the error if commander rejects it.
 *
 * This function does not know the commands' own options, so it can mistake an option's value for a flag, as in `--where
 * --json`. This affects only how an error is printed, because commands use the flags that commander parsed.
 */
export function scanCommandLine(argv: readonly string[]): CommandLine {
  const options = Object.fromEntries(
    addGlobalOptions(new Command()).options.map(({ long, required }) => [
      long?.slice(2) ?? "",
      { type: required ? "string" : "boolean" } as const,
    ]),
  );
  const { positionals, values } = parseArgs({ args: [...argv], options, strict: false });
  const textOf = (name: string) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    argv,
    command: positionals[0],
    json: values.json === true,
    verbose: values.verbose === true,
    profile: textOf("profile"),
    db: textOf("db"),
    baseUrl: textOf("base-url"),
    keyFile: textOf("key-file"),
  };
}
