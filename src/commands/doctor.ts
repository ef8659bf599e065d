import { fetchIdentity } from "../cli/api-session.js";
import type { Context } from "../cli/context.js";
import { completeHint } from "../cli/error-output.js";
import { checkBackup, checkDisk, checkForgotten, checkReplacedMirrors } from "../cli/mirror-checks.js";
import { createReporter } from "../cli/progress.js";
import { type GlobalOptions, readSettings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { type BrandapiError, type ExitCode, exitCodes, Incomplete, MirrorUnusable } from "../errors.js";
import { typedTables } from "../query/readable-tables.js";
import { withReadTransaction } from "../query/select.js";
import { details, resources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { checkOwner, type Mirror, readInfo } from "../store/database.js";
import { openMirrorOrEmpty } from "../store/open.js";
import { hasOtherColumns } from "../store/rebuild.js";
import { findDamage, schemaVersion } from "../store/schema.js";
import { compareTables, differenceText } from "../store/table-check.js";
import { readUnexpectedColumns, unexpectedText } from "../store/unexpected-values.js";
import { hideKeys } from "../util/redact-keys.js";
import { loadSqlite } from "../util/sqlite.js";
import { asBrandapiError, damagedHint } from "../util/system-errors.js";
import { printJson, styleFor } from "../util/terminal.js";
import { escapeText } from "../util/terminal-text.js";

/** The result of a check. With a hint it is a warning, which fails nothing. */
interface Finding<T = unknown> {
  text: string;
  hint?: string;
  /** For the checks after it. */
  value?: T;
}

export const about =
  "Prints a line per check: `ok`, or `!` with the command that fixes the problem. Skips checks that depend on a failed " +
  "one. Writes nothing and sends one request. The exit code is that of the first failed check; warnings do not count.";

export const examples = {
  "brandapi doctor": "run all checks",
  "brandapi doctor --json | jq 'select(.state != \"ok\")'": "print only problems, for scripts",
};

export async function run(options: GlobalOptions, { deps }: Context): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const check = async <T>(name: string, run: () => Promise<Finding<T>>): Promise<T | undefined> => {
    const found = await run().catch(asBrandapiError);
    deps.signal.throwIfAborted();
    if (found instanceof Error && exitCode === exitCodes.done) exitCode = found.exitCode;
    print(name, found, options, deps);
    return found instanceof Error ? undefined : found.value;
  };
  await check("node", async () => {
    const memory = new (await loadSqlite())(":memory:");
    const version = memory.prepare("SELECT sqlite_version()").pluck().get();
    memory.close();
    // SQLite 3.51.3 mended a bug that can lose committed pages of a database with a log.
    const others = "programs with an older SQLite than 3.51.3 should open the mirror with `mode=ro`";
    return { text: `Node ${deps.machine.version}, SQLite ${version}; ${others}` };
  });
  const settings = await check("settings", async () => {
    const value = await readSettings(options, deps, "ask");
    return { text: `profile \`${value.profile}\`, ${value.baseUrl ?? "no base URL"}`, value };
  });
  if (!settings) return exitCode;
  const mirror = await check("mirror", () => checkMirror(settings.dbPath, deps));
  if (mirror) {
    await check("tables", () =>
      withReadTransaction(mirror, () => deps.withSignals("kill", async () => checkTables(mirror))),
    );
    await check("columns", async () => checkColumns(mirror));
    await check("backup", async () => checkBackup(mirror, deps.clock.now()));
    await check("kept", () => deps.withSignals("kill", async () => checkForgotten(mirror)));
  }
  await check("old", async () => checkReplacedMirrors(settings.dbPath));
  await check("disk", async () => checkDisk(settings.dbPath));
  const identity = await check("key", async () => {
    const value = await fetchIdentity(settings, deps, createReporter(deps, { quiet: true }));
    checkOwner(mirror ?? null, value.brand, settings.brand);
    return { text: "the API takes it: `brandapi whoami` shows its scopes and expiry", value };
  });
  mirror?.db.close();
  if (!identity) return exitCode;
  const hint = "set it by a time server: `sudo timedatectl set-ntp true`";
  const { skew } = identity;
  await check("clock", async () =>
    skew ? { text: skew, hint } : { text: "within five minutes of the API's" },
  );
  return exitCode;
}

/** Prints one line, and its hint below; with `--quiet` only what is not ok. */
function print(
  check: string,
  found: Finding | BrandapiError,
  { color, db, json, profile, quiet }: GlobalOptions,
  { env, keys, stdout }: Deps,
): void {
  const isError = found instanceof Error;
  const passed = found.hint ? "warning" : "ok";
  const state = isError ? "failed" : passed;
  if (quiet && state === "ok") return;
  const text = hideKeys(isError ? found.message : found.text, keys);
  const hint = found.hint ? hideKeys(completeHint(found.hint, { profile, db }), keys) : null;
  const exit_code = isError ? found.exitCode : exitCodes.done;
  const { green, red, yellow } = styleFor(stdout, { color }, env);
  const mark = { ok: green("ok"), warning: yellow("! "), failed: red("! ") }[state];
  if (json) printJson(stdout, { check, state, text, exit_code, hint });
  else stdout.write(`${mark} ${check}: ${escapeText(text)}\n${hint ? `     ${escapeText(hint)}\n` : ""}`);
}

async function checkMirror(dbPath: string, deps: Deps): Promise<Finding<Mirror>> {
  const mirror = await openMirrorOrEmpty(dbPath);
  if (schemaVersion(mirror) !== "current" || hasOtherColumns(mirror)) {
    mirror.db.close();
    return {
      text: `There is no mirror yet, or one of an older version: ${dbPath}`,
      hint: "run `brandapi sync`, or `brandapi demo` without a key",
    };
  }
  try {
    const damage = await deps.withSignals("kill", async () => findDamage(mirror));
    if (damage !== null)
      throw new MirrorUnusable(`The mirror is damaged (${damage}): ${dbPath}`, { hint: damagedHint });
    const brand = readInfo(mirror, "brand_name") ?? "no brand yet";
    return { text: `${dbPath}: sound, of ${brand}`, value: mirror };
  } catch (error) {
    mirror.db.close();
    throw error;
  }
}

/** Lists the columns with values of an unexpected type. */
function checkColumns(mirror: Mirror): Finding {
  const columnsOf = ({ name }: Resource) => readUnexpectedColumns(mirror, name);
  const concerned = [...resources, ...details].filter((resource) => columnsOf(resource).length > 0);
  const [first] = concerned;
  if (!first) return { text: "every value has the type of its column" };
  const text = concerned.flatMap(columnsOf).map(unexpectedText).join(", ");
  return {
    text: `unexpected types: ${text}`,
    hint: `\`brandapi export ${first.table} --ndjson\` has these records as the API sent them: report them to the API's support`,
  };
}

function checkTables(mirror: Mirror): Finding {
  const all = compareTables(mirror, [...resources, ...details]);
  if (all.length === 0) return { text: `all ${typedTables().length} match the records` };
  const texts = all.map((one) => `${one.table}: ${differenceText(one)}`);
  throw new Incomplete(`Tables differ from the mirror's records: ${texts.join("; ")}.`, {
    hint: "run `brandapi verify --repair`",
  });
}
