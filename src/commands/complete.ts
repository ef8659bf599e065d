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
  try {
    const last = words.at(-1) ?? "";
    const candidates = await candidatesFor(program, words.slice(0, -1), last, deps);
    const fitting = candidates.filter(([word]) => word.startsWith(last));
    deps.stdout.write(fitting.map((parts) => `${parts.join("\t")}\n`).join(""));
  } catch {
    // Nothing is offered.
  }
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
  if (flag) return await valuesOf(flag, before, last, deps);
  if (last.startsWith("-")) return options.map(({ long, description }) => [long ?? "", description]);
  if (!command || command.name() === "help")
    return program.commands.map((one) => [one.name(), one.summary()]);
  const [argument] = command.registeredArguments;
  return argument ? await valuesOf(argument, before, last, deps) : [];
}

/** Returns an option's or argument's choices, else what the name in its brackets stands for; of a list, the next value. */
async function valuesOf(
  one: Option | Argument,
  before: readonly string[],
  last: string,
  deps: Deps,
): Promise<readonly Candidate[]> {
  const placeholder = "flags" in one ? (/<([\w-]+)/.exec(one.flags)?.[1] ?? "") : one.name();
  const begun = last.slice(0, last.lastIndexOf(",") + 1);
  const names = one.argChoices ?? (await namesFor(placeholder, before, deps));
  return names.map((name) => [begun + name]);
}

async function namesFor(
  placeholder: string,
  before: readonly string[],
  deps: Deps,
): Promise<readonly string[]> {
  switch (placeholder) {
    case "resource":
      return resources.map(({ name }) => name);
    case "table":
      return knownTableNames();
    case "profile":
      return (await readKnownProfiles(deps)).map(({ name }) => name);
    case "columns":
      return columnNames(before);
    default:
      return [];
  }
}

/** Returns the columns of the table that the words name. */
function columnNames(before: readonly string[]): readonly string[] {
  const typed = before.map((word) => word.replaceAll("-", "_"));
  return (
    typedTables()
      .find(({ name }) => typed.includes(name))
      ?.columns.map(({ name }) => name) ?? []
  );
}
