import type { Argument, Command, Option } from "commander";
import { readKnownProfiles } from "../config/profiles.js";
import type { Deps } from "../deps.js";
import { knownTableNames } from "../query/index.js";
import { resources } from "../resources/index.js";

/**
 * Prints what the last of the typed words can become, one per line; nothing if it is a file's name. Sends no request,
 * changes nothing and prints no error.
 */
export async function printCompletions(program: Command, words: readonly string[], deps: Deps) {
  const candidates = await candidatesFor(program, words, deps).catch(() => []);
  const fitting = candidates.filter((word) => word.startsWith(words.at(-1) ?? ""));
  deps.stdout.write(fitting.map((word) => `${word}\n`).join(""));
}

async function candidatesFor(program: Command, words: readonly string[], deps: Deps) {
  const before = words.slice(0, -1);
  const command = program.commands.find((one) => before.includes(one.name()));
  const options = [...(command?.options ?? []), ...program.options];
  const previous = before.at(-1) ?? "";
  const flag = options.find(({ long, short, required }) => required && [long, short].includes(previous));
  if (flag) return await valuesOf(flag, deps);
  if (words.at(-1)?.startsWith("-")) return options.flatMap(({ long }) => long ?? []);
  if (!command) return program.commands.map((one) => one.name());
  const [argument] = command.registeredArguments;
  return argument ? await valuesOf(argument, deps) : [];
}

/** Returns an option's or argument's choices, else what the name in its brackets stands for. */
async function valuesOf(one: Option | Argument, deps: Deps): Promise<readonly string[]> {
  if (one.argChoices) return one.argChoices;
  const what = "flags" in one ? /<([\w-]+)/.exec(one.flags)?.[1] : one.name();
  if (what === "resource") return resources.map(({ name }) => name);
  if (what === "table") return knownTableNames();
  if (what === "profile") return (await readKnownProfiles(deps)).map(([name]) => name);
  return [];
}
