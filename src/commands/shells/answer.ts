import { readKnownProfiles } from "../../config/known.js";
import { valueAfter } from "../../config/options.js";
import { chooseMirror, chooseProfile } from "../../config/settings.js";
import type { Deps } from "../../deps.js";
import { checkIdentity, connect } from "../../mirror/index.js";
import { describeTable, listTables, typedTables } from "../../query/index.js";
import type { GlobalOptions } from "../command.js";

/** A mirror that is held for longer is done without. */
const patienceMs = 100;

/**
 * What a completion script asks for when Tab is pressed: `profiles`, or `columns` and the words typed so far. Prints
 * one a line, and only what every shell takes as one plain word. Asks no network, changes nothing, and says nothing of
 * what goes wrong: whoever presses Tab has not asked yet.
 */
export async function answer([asked, ...typed]: readonly string[], deps: Deps): Promise<void> {
  try {
    const names = asked === "profiles" ? await profileNames(deps) : await columnNames(typed, deps);
    const plain = names.filter((name) => /^[\w.-]+$/.test(name));
    deps.stdout.write(plain.map((name) => `${name}\n`).join(""));
  } catch {
    // Nothing is offered.
  }
}

async function profileNames(deps: Deps): Promise<readonly string[]> {
  return (await readKnownProfiles(deps)).map(({ name }) => name);
}

/** Those of the table that was typed: as the mirror has them, otherwise as this version declares them. */
async function columnNames(typed: readonly string[], deps: Deps): Promise<readonly string[]> {
  const words = typed.map((word) => word.replaceAll("-", "_").toLowerCase());
  const mirrored = await mirroredColumns(typed, words, deps).catch(() => undefined);
  if (mirrored) return mirrored;
  const table = typedTables().find(({ name }) => words.includes(name));
  return table ? [...table.columns.map(({ name }) => name), "synced_at"] : [];
}

/** Undefined where the mirror does not have the table. */
async function mirroredColumns(
  typed: readonly string[],
  words: readonly string[],
  deps: Deps,
): Promise<readonly string[] | undefined> {
  const options: GlobalOptions = {};
  const [profile, db] = [valueAfter(typed, "--profile"), valueAfter(typed, "--db")];
  if (profile !== undefined) options.profile = profile;
  if (db !== undefined) options.db = db;
  const name = chooseProfile(options, deps.env);
  const known = (await readKnownProfiles(deps)).find((one) => one.name === name);
  const mirror = await connect(chooseMirror(options, deps, name, known?.stored ?? {}), true);
  try {
    mirror.db.pragma(`busy_timeout = ${patienceMs}`);
    checkIdentity(mirror);
    const table = listTables(mirror).find((one) => words.includes(one));
    return table === undefined ? undefined : describeTable(mirror, table).columns.map(({ name: own }) => own);
  } finally {
    mirror.db.close();
  }
}
