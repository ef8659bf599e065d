import { existsSync, readdirSync, realpathSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fetchIdentity, type Identity } from "../cli/api-session.js";
import { addBrandFlags } from "../cli/brand-flags.js";
import { asBrandapiError } from "../cli/error-output.js";
import { explainMirrorError } from "../cli/mirror-errors.js";
import { configPath } from "../config/folders.js";
import { type GlobalFlags, readSettings, type Settings } from "../config/settings.js";
import { unknownFieldHint } from "../config/stored-profiles.js";
import { findMisspelledVariables } from "../config/variables.js";
import type { Context, Deps } from "../deps.js";
import { type BrandapiError, type ExitCode, exitCodes, Incomplete, MirrorUnusable } from "../errors.js";
import { allTableShapes } from "../query/readable-tables.js";
import { allResources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { findLastBackup, lastBackupHint } from "../store/backups.js";
import { findDamage, type Mirror, withReadTransaction } from "../store/database.js";
import { openMirrorOrEmpty } from "../store/open.js";
import { checkOwner, loadOwner } from "../store/owner.js";
import { hasOutdatedColumns } from "../store/rebuild.js";
import { findUnredacted, mustBeScrubbed } from "../store/redact-mirror.js";
import { loadRedactionRules } from "../store/redaction-rules.js";
import { loadFirstReadAt } from "../store/runs.js";
import { schemaVersion } from "../store/schema.js";
import { describeUnexpectedColumn, loadUnexpectedColumns } from "../store/schema-issues.js";
import { damagedHint } from "../store/sqlite-errors.js";
import { compareTables, describeDifference } from "../store/table-check.js";
import { formatBytes, pluralize, quoteShellWord } from "../util/format-text.js";
import { hideKeys } from "../util/redact-keys.js";
import { loadSqlite } from "../util/sqlite.js";
import { createStyle, escapeText, printJson, terminalWidth, wrapIndented } from "../util/terminal.js";
import { dayMs, formatInstant, formatMinute } from "../util/timestamps.js";

export const about =
  "Prints one line per check: `ok`, or `!` with the command that fixes the problem. Skips checks that depend on a failed check. " +
  "Writes nothing and sends one request. The first failed check determines the exit code; warnings do not affect it.";

export const examples = {
  "brandapi doctor": "run all checks",
  "brandapi doctor --json | jq 'select(.state != \"ok\")'": "print only problems, for scripts",
};

export async function run(flags: GlobalFlags, { deps }: Context): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  let dbPath: string | undefined;
  /**
   * Runs a check and prints the finding.
   * @returns the checked value, or undefined if the check failed
   */
  const check = async <T>(name: string, work: () => Promise<Finding<T>>): Promise<T | undefined> => {
    const finding = await work().catch(async (error: unknown) =>
      asBrandapiError(dbPath === undefined ? error : await explainMirrorError(error, dbPath)),
    );
    deps.signal.throwIfAborted();
    printFinding(name, finding, flags, deps);
    if (!(finding instanceof Error)) return finding.value;
    if (exitCode === exitCodes.done) exitCode = finding.exitCode;
    return undefined;
  };

  await check("node", () => checkNode(deps));
  const settings = await check("settings", () => checkSettings(flags, deps));
  if (!settings) return exitCode;
  const path = settings.dbPath;
  dbPath = path;
  const mirror = await check("mirror", () => checkMirror(path));
  try {
    if (mirror) {
      await check("tables", () => checkTables(mirror, deps.signal));
      await check("columns", async () => checkColumns(mirror));
      await check("backup", async () => checkBackup(mirror, deps.clock.now()));
      await check("forgotten", async () => checkForgotten(mirror));
    }
    await check("old", async () => checkReplacedMirrors(path));
    await check("disk", async () => checkDisk(path));
    const identity = await check("key", () => checkApiKey(settings, mirror, deps));
    if (identity) await check("clock", async () => checkClock(identity));
  } finally {
    mirror?.db.close();
  }
  return exitCode;
}

/** The result of a check: a warning if it has a hint, and otherwise a success. */
interface Finding<T = unknown> {
  text: string;
  hint?: string;
  /** The value that was checked, such as the settings, for later checks that depend on it. */
  value?: T;
}

function printFinding(
  check: string,
  finding: Finding | BrandapiError,
  flags: GlobalFlags,
  { env, apiKeys, stdout }: Deps,
): void {
  const { color, json, quiet } = flags;
  const isError = finding instanceof Error;
  const passed = finding.hint ? "warning" : "ok";
  const state = isError ? "failed" : passed;
  if (quiet && state === "ok") return;
  const text = hideKeys(isError ? finding.message : finding.text, apiKeys);
  const hint = finding.hint ? hideKeys(addBrandFlags(finding.hint, flags, env), apiKeys) : null;
  const exit_code = isError ? finding.exitCode : exitCodes.done;
  const { green, red, yellow } = createStyle(stdout, { color }, env);
  const mark = { ok: green("ok"), warning: yellow("! "), failed: red("! ") }[state];
  if (json) printJson(stdout, { check, state, text, exit_code, hint });
  else {
    const line = wrapIndented(`${mark} ${check}: ${escapeText(text)}`, terminalWidth(stdout), 5);
    stdout.write(`${line}\n${hint ? `     ${escapeText(hint)}\n` : ""}`);
  }
}

async function checkNode({ machine }: Deps): Promise<Finding> {
  const memory = new (await loadSqlite())(":memory:");
  const version = memory.prepare("SELECT sqlite_version()").pluck().get();
  memory.close();
  // SQLite 3.51.3 fixed a write-ahead log bug that can lose committed pages.
  const note = "programs that use an SQLite version older than 3.51.3 should open the mirror with `mode=ro`";
  return { text: `Node ${machine.version}, SQLite ${version}; ${note}` };
}

async function checkSettings(flags: GlobalFlags, deps: Deps): Promise<Finding<Settings>> {
  const settings = readSettings(flags, deps, "ask");
  const { baseUrl = "no base URL", profile } = settings;
  const text = `profile \`${profile}\`, ${baseUrl}`;
  const [misspelled] = findMisspelledVariables(flags, deps.env);
  if (misspelled !== undefined)
    return {
      text: `${text}; the environment variable ${misspelled.written} is not used`,
      hint: `did you mean ${misspelled.meant}?`,
      value: settings,
    };
  const [unknown] = settings.unknownFields;
  if (unknown === undefined) return { text, value: settings };
  return {
    text: `${text}; the profile has an unknown field \`${unknown}\``,
    hint: `edit ${configPath(deps)}: ${unknownFieldHint(unknown)}`,
    value: settings,
  };
}

async function checkMirror(dbPath: string): Promise<Finding<Mirror>> {
  const mirror = await openMirrorOrEmpty(dbPath);
  if (schemaVersion(mirror) !== "current" || hasOutdatedColumns(mirror)) {
    mirror.db.close();
    if (mirror.hasFile)
      return {
        text: `The mirror was written by an older version: ${dbPath}`,
        hint: "run `brandapi status` to migrate it",
      };
    return {
      text: `There is no mirror yet: ${dbPath}`,
      hint: "run `brandapi sync` or, if you have no key, `brandapi demo`",
    };
  }
  try {
    const damage = findDamage(mirror);
    if (damage !== null)
      throw new MirrorUnusable(`The mirror is damaged (${damage}): ${dbPath}`, {
        hint: (await lastBackupHint(dbPath)) ?? damagedHint,
      });
    const brand = loadOwner(mirror)?.name ?? "no brand yet";
    return { text: `${dbPath}: undamaged, ${brand}`, value: mirror };
  } catch (error) {
    mirror.db.close();
    throw error;
  }
}

async function checkTables(mirror: Mirror, signal: AbortSignal): Promise<Finding> {
  return await withReadTransaction(mirror, async () => {
    const differing = await compareTables(mirror, allResources, signal);
    if (differing.length === 0) return { text: `all ${allTableShapes.length} tables match the records` };
    const texts = differing.map((table) => `${table.table}: ${describeDifference(table)}`);
    throw new Incomplete(`Tables differ from the mirror's records: ${texts.join("; ")}.`, {
      hint: "run `brandapi verify --repair`",
    });
  });
}

function checkColumns(mirror: Mirror): Finding {
  const columnsOf = ({ name }: Resource) => loadUnexpectedColumns(mirror, name);
  const affected = allResources.filter((resource) => columnsOf(resource).length > 0);
  const [first] = affected;
  if (!first) return { text: "all values match their column's type" };
  const text = affected.flatMap(columnsOf).map(describeUnexpectedColumn).join(", ");
  return {
    text: `unexpected types: ${text}`,
    hint: `\`brandapi export ${first.table} --ndjson\` prints these records as the API sent them; report them to the API's support`,
  };
}

async function checkApiKey(
  settings: Settings,
  mirror: Mirror | undefined,
  deps: Deps,
): Promise<Finding<Identity>> {
  const identity = await fetchIdentity(settings, { quiet: true }, deps);
  checkOwner(mirror ? loadOwner(mirror) : null, identity.brand, settings.brand);
  return {
    text: "accepted by the API; `brandapi whoami` shows the key's scopes and expiry",
    value: identity,
  };
}

function checkClock({ clockWarning }: Identity): Finding {
  if (!clockWarning) return { text: "within five minutes of the API's clock" };
  return {
    text: clockWarning,
    hint: "synchronize the clock with a time server: `sudo timedatectl set-ntp true`",
  };
}

/** The free disk space that even a small mirror needs, in bytes. */
const minFreeBytes = 200 * 1024 ** 2;

/**
 * Checks the free space on the mirror's disk. If the mirror's folder does not exist, its nearest existing parent is
 * used.
 */
function checkDisk(dbPath: string): Finding {
  let folder = dirname(dbPath);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return checkFreeSpace({
    freeBytes: bavail * bsize,
    mirrorBytes: statSync(dbPath, { throwIfNoEntry: false })?.size ?? 0,
  });
}

/** Reports the free disk space, with a hint if a copy of the mirror and its log would not fit. */
export function checkFreeSpace({ freeBytes, mirrorBytes }: { freeBytes: number; mirrorBytes: number }) {
  const free = `${formatBytes(freeBytes)} free`;
  if (freeBytes >= Math.max(minFreeBytes, 2 * mirrorBytes)) return { text: free };
  return {
    text: `nearly full: ${free}, and the mirror takes up ${formatBytes(mirrorBytes)}`,
    hint: "free some disk space: a backup, a migration and `brandapi forget` each need as much space as the mirror",
  };
}

/**
 * Reports the date of the last backup. Adds a hint if that date is more than two weeks ago. Without a backup, uses
 * the time of the mirror's first read instead.
 */
function checkBackup(mirror: Mirror, now: number): Finding {
  const last = findLastBackup(mirror);
  const since = last?.at ?? loadFirstReadAt(mirror) ?? formatInstant(now);
  const text = last
    ? `the last backup was made on ${formatMinute(last.at)}: ${last.path}`
    : `there is no backup, and the mirror's data goes back to ${formatMinute(since)}`;
  if (now - Date.parse(since) <= 14 * dayMs) return { text };
  return { text, hint: "run `brandapi backup`, because the API cannot restore the history of changes" };
}

/** Lists the old mirrors that `backup --restore` has kept. They are never deleted automatically. */
function checkReplacedMirrors(path: string): Finding {
  const realPath = existsSync(path) ? realpathSync(path) : path;
  const folder = dirname(realPath);
  const prefix = `${basename(realPath)}.before-`;
  const old = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : [];
  if (old.length === 0) return { text: "no mirrors from earlier restores remain" };
  const paths = old.sort().map((name) => join(folder, name));
  return {
    text: `\`brandapi forget\` does not change the mirrors that earlier restores replaced: ${paths.join(", ")}`,
    hint: `delete what you no longer need: \`rm ${paths.map(quoteShellWord).join(" ")}\``,
  };
}

/**
 * Checks that the mirror contains no data about forgotten hosts and no omitted fields.
 * @throws Incomplete if the mirror contains either
 */
function checkForgotten(mirror: Mirror): Finding {
  const { forgotten } = loadRedactionRules(mirror);
  if (!mustBeScrubbed(mirror) && findUnredacted(mirror).length === 0) {
    if (forgotten.length === 0) return { text: "no hosts have been forgotten" };
    return { text: `${pluralize(forgotten.length, "forgotten host")}: only IDs are kept` };
  }
  const again = forgotten[0] === undefined ? "sync" : `forget --host ${forgotten[0]}`;
  throw new Incomplete("The mirror still contains a forgotten host's data or an omitted field.", {
    hint: `close other programs that read the mirror, free some disk space, then run \`brandapi ${again}\``,
  });
}
