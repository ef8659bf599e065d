import type { Argument, Command, Option } from "commander";
import { readKnownProfiles } from "../config/profiles.js";
import type { Deps } from "../deps.js";
import { knownTableNames, typedTables } from "../query/index.js";
import { resources } from "../resources/index.js";

/**
 * Prints what the last of the typed words can become, one per line, with a note after a tab; nothing if it is a file's
 * name. Sends no request, changes nothing and prints no error.
 */
export async function printCompletions(
  program: Command,
  words: readonly string[],
  deps: Deps,
): Promise<void> {
  const last = words.at(-1) ?? "";
  const candidates = await candidatesFor(program, words.slice(0, -1), last, deps).catch(() => []);
  const fitting = candidates.filter(([word]) => word.startsWith(last));
  deps.stdout.write(fitting.map((parts) => `${parts.join("\t")}\n`).join(""));
}

type Candidate = readonly [word: string, note?: string];

async function candidatesFor(
  program: Command,
  before: readonly string[],
  last: string,
  deps: Deps,
): Promise<readonly Candidate[]> {
  const command = program.commands.find((one) => before.includes(one.name()));
  const options = [...(command?.options ?? []), ...program.options];
  const flag = options.find(
    ({ long, short, required }) => required && [long, short].includes(before.at(-1) ?? ""),
  );
  if (!flag && last.startsWith("-")) return options.map(({ long, description }) => [long ?? "", description]);
  if (!flag && (!command || command.name() === "help"))
    return program.commands.map((one) => [one.name(), one.summary()]);
  const one = flag ?? command?.registeredArguments[0];
  // Of a list, the next value.
  const begun = last.slice(0, last.lastIndexOf(",") + 1);
  return one ? (await valuesOf(one, before, deps)).map((value) => [begun + value]) : [];
}

/** Returns an option's or argument's choices, else what the name in its brackets stands for. */
async function valuesOf(one: Option | Argument, before: readonly string[], deps: Deps) {
  if (one.argChoices) return one.argChoices;
  switch ("flags" in one ? /<([\w-]+)/.exec(one.flags)?.[1] : one.name()) {
    case "resource":
      return resources.map(({ name }) => name);
    case "table":
      return knownTableNames();
    case "profile":
      return (await readKnownProfiles(deps)).map(({ name }) => name);
    case "columns": {
      const typed = before.map((word) => word.replaceAll("-", "_"));
      const table = typedTables().find(({ name }) => typed.includes(name));
      return table?.columns.map(({ name }) => name) ?? [];
    }
    default:
      return [];
  }
}
