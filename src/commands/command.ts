import type { GlobalOptions } from "../config/options.js";
import type { Apart, Deps } from "../deps.js";
import type { ExitCode } from "../errors.js";

export type { GlobalOptions };

/** What a value can be, for the completion in shells: these words, or what the shell or this machine knows. */
export type Values = readonly string[] | "files" | "folders" | "profiles" | "columns";

/** One flag, as data: help, README, completion and parsing come from it. */
export interface Flag {
  /** As commander spells it: `--since <time>`, `--csv`, `-o, --out <file>`, `--no-color`. */
  flags: string;
  about: string;
  /** Turns the text into a value; throws `UsageError` when it cannot. */
  parse?(text: string, previous?: unknown): unknown;
  choices?: readonly string[];
  /** Where neither `choices` nor the word in its brackets says it: see shells/typeable.ts. */
  values?: Values;
  /** Several at a time, commas between. */
  isList?: boolean;
  /** Shown in help as the default; the value itself is applied by the command. */
  shown?: string;
}

export interface Argument {
  /** As commander spells it: `<table>`, `[resource...]`. */
  syntax: string;
  about: string;
  /** As a flag's. */
  values?: Values;
}

export interface Example {
  command: string;
  about: string;
}

/** What a command's run is given. */
export interface Invocation<Options = Record<string, unknown>> {
  deps: Deps;
  args: readonly string[];
  options: Options & GlobalOptions;
  /** The registry that the command is in. */
  commands: readonly CommandSpec[];
  /** Set where it is one of several that a command goes through: what it prints as JSON bears the profile's name. */
  profile?: string;
  /**
   * Prints an error as the program does at its end, for a command that goes on.
   * @param profile named where it is one brand's of several
   * @returns its exit code
   */
  tell(error: unknown, profile?: string): ExitCode;
}

/** A verb: options, command, run, in this order, in a file of its own: see "Import rules" in src/README.md. */
export interface CommandSpec {
  name: string;
  summary: string;
  /** A longer word under the summary in the command's own help. */
  description?: string;
  arguments: readonly Argument[];
  flags: readonly Flag[];
  examples: readonly Example[];
  /** What else its help has to say, under a heading. */
  notes?: { heading: string; lines: readonly string[] };
  /**
   * Whether it may ask SQLite for what takes long in one piece, and so be deaf to signals: it is then run in a process of
   * its own.
   */
  apart?(invocation: Invocation): Promise<Apart | undefined>;
  /** Loads what it needs when it runs: help opens no file and no network. Resolves to an exit code, 0 if left out. */
  run(invocation: Invocation): Promise<ExitCode | undefined>;
}

/** Names a command's options for its `run`: the flags above it are the promise that they have these shapes. */
export function defineCommand<Options>(
  spec: Omit<CommandSpec, "run" | "apart"> & {
    apart?(invocation: Invocation<Options>): Promise<Apart | undefined>;
    run(invocation: Invocation<Options>): Promise<ExitCode | undefined>;
  },
): CommandSpec {
  return spec as unknown as CommandSpec;
}
