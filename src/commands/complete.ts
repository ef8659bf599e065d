import type { Argument, Command, Option } from "commander";
import { type GlobalOptions, valueAfter } from "../config/options.js";
import { readKnownProfiles } from "../config/profiles.js";
import { chooseMirror, chooseProfile } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { checkIdentity, connect } from "../mirror/index.js";
import { describeTable, knownTableNames, listTables, typedTables } from "../query/index.js";
import { resources } from "../resources/index.js";

/** Milliseconds to wait for a mirror that another program holds. */
const patienceMs = 100;

/**
 * Prints what the last of the typed words can become, a word per line, with a note after a tab; nothing if it is a file's
 * name. Asks no network, changes nothing and prints no error.
 */
export async function printCompletions(
  program: Command,
  words: readonly string[],
  deps: Deps,
): Promise<void> {
  try {
    const last = words.at(-1) ?? "";
    const fitting = (await candidates(program, words.slice(0, -1), last, deps)).filter(([word]) =>
      word.startsWith(last),
    );
    deps.stdout.write(fitting.map((parts) => `${parts.join("\t")}\n`).join(""));
  } catch {
    // Nothing is offered.
  }
}

type Candidate = readonly [word: string, note?: string];

async function candidates(
  program: Command,
  before: readonly string[],
  last: string,
  deps: Deps,
): Promise<readonly Candidate[]> {
  const command = before
    .map((word) => program.commands.find((one) => one.name() === word))
    .find((one) => one !== undefined);
  const options = [...(command?.options ?? []), ...program.options];
  const flag = before.at(-1) ?? "";
  const asked = options.find(({ long, short, required }) => required && (flag === long || flag === short));
  if (asked) return await valuesOf(asked, before, last, deps);
  if (last.startsWith("-"))
    return options.flatMap(({ long, description }) => (long ? [[long, description] as const] : []));
  if (!command) return program.commands.map((one) => [one.name(), one.summary()]);
  if (command.name() === "help") return program.commands.map((one) => [one.name(), one.summary()]);
  const [argument] = command.registeredArguments;
  return argument ? await valuesOf(argument, before, last, deps) : [];
}

/** The values of an option or an argument: its choices, else by the name in its brackets. A list goes on after its commas. */
async function valuesOf(
  one: Option | Argument,
  words: readonly string[],
  last: string,
  deps: Deps,
): Promise<readonly Candidate[]> {
  const placeholder = "flags" in one ? (/[<[]([\w-]+)/.exec(one.flags)?.[1] ?? "") : one.name();
  const begun = last.includes(",") ? last.slice(0, last.lastIndexOf(",") + 1) : "";
  return (one.argChoices ?? (await namesFor(placeholder, words, deps)))
    .filter((name) => /^[\w.-]+$/.test(name))
    .map((name) => [begun + name] as const);
}

async function namesFor(
  placeholder: string,
  words: readonly string[],
  deps: Deps,
): Promise<readonly string[]> {
  switch (placeholder.replace(/\.+$/, "")) {
    case "resource":
      return resources.map(({ name }) => name);
    case "table":
      return knownTableNames();
    case "profile":
      return (await readKnownProfiles(deps)).map(({ name }) => name);
    case "columns":
      return await columnNames(words, deps);
    default:
      return [];
  }
}

/** The columns of the table among the words: as the mirror has it, otherwise as this version declares it. */
async function columnNames(words: readonly string[], deps: Deps): Promise<readonly string[]> {
  const typed = words.map((word) => word.replaceAll("-", "_").toLowerCase());
  const mirrored = await mirroredColumns(words, typed, deps).catch(() => undefined);
  if (mirrored) return mirrored;
  const table = typedTables().find(({ name }) => typed.includes(name));
  return table ? [...table.columns.map(({ name }) => name), "synced_at"] : [];
}

/** Undefined if the mirror does not have the table. */
async function mirroredColumns(
  words: readonly string[],
  typed: readonly string[],
  deps: Deps,
): Promise<readonly string[] | undefined> {
  const [profile, db] = [valueAfter(words, "--profile"), valueAfter(words, "--db")];
  const options: GlobalOptions = { ...(profile && { profile }), ...(db && { db }) };
  const name = chooseProfile(options, deps.env);
  const known = (await readKnownProfiles(deps)).find((one) => one.name === name);
  const mirror = await connect(chooseMirror(options, deps, name, known?.stored ?? {}), true);
  try {
    mirror.db.pragma(`busy_timeout = ${patienceMs}`);
    checkIdentity(mirror);
    const table = listTables(mirror).find((one) => typed.includes(one));
    return table === undefined
      ? undefined
      : describeTable(mirror, table).columns.map((column) => column.name);
  } finally {
    mirror.db.close();
  }
}
