import { knownTableNames } from "../../query/names.js";
import { resources } from "../../resources/index.js";
import type { Argument, CommandSpec, Flag, Values } from "../command.js";
import { globalFlags } from "../globals.js";
import { inHelpOrder } from "../groups.js";

/** What can be typed after `brandapi`, told to shells: made from the registry of commands. */
export interface Typeable {
  everywhere: readonly TypeableFlag[];
  commands: readonly TypeableCommand[];
}

export interface TypeableCommand {
  name: string;
  about: string;
  flags: readonly TypeableFlag[];
  arguments: readonly Value[];
}

export interface TypeableFlag {
  /** `--out`, and `-o` where there is one. */
  names: readonly string[];
  about: string;
  /** Null for a flag that stands alone. */
  value: Value | null;
}

export interface Value {
  /** What it is called: the word in its brackets. */
  name: string;
  values: Values;
  /** Several, commas between. */
  isList: boolean;
  /** Several, blanks between. */
  isMany: boolean;
}

/** What a word in brackets can be, where nothing else is said. */
const byName: Readonly<Record<string, Values>> = {
  file: "files",
  path: "files",
  dir: "folders",
  resource: resources.map(({ name }) => name),
  table: knownTableNames(),
};

export function typeable(commands: readonly CommandSpec[]): Typeable {
  const ordered = inHelpOrder(commands);
  const help = { flags: "-h, --help", about: "show this help" };
  const helped = { syntax: "[command]", about: "", values: [...ordered.map(({ name }) => name), "flags"] };
  return {
    everywhere: [...globalFlags, help].map(flagOf),
    commands: [
      ...ordered.map((spec) => ({
        name: spec.name,
        about: spec.summary,
        flags: spec.flags.map(flagOf),
        arguments: spec.arguments.map(argumentOf),
      })),
      { name: "help", about: "Show help for a command", flags: [], arguments: [argumentOf(helped)] },
    ],
  };
}

function flagOf({ flags, about, choices, values, isList = false }: Flag): TypeableFlag {
  const syntax = /[<[].*$/.exec(flags)?.[0];
  const names = flags.match(/(?<![^\s,])--?[\w-]+/g) ?? [];
  return { names, about, value: syntax ? typeableValue(syntax, choices ?? values, isList) : null };
}

function argumentOf({ syntax, values }: Argument): Value {
  return typeableValue(syntax, values, false);
}

function typeableValue(syntax: string, values: Values | undefined, isList: boolean): Value {
  const name = syntax.replace(/[^\w-]/g, "");
  return { name, values: values ?? byName[name] ?? [], isList, isMany: syntax.includes("...") };
}
