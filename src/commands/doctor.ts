import { existsSync } from "node:fs";
import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { Command } from "commander";
import type { Deps } from "../deps.js";
import {
  BrandapiError,
  ChecksFailed,
  ConfigurationError,
  exitCodes,
  Incomplete,
  MirrorUnusable,
} from "../errors.js";
import { counted } from "../lib/counted.js";
import { asBrandapiError } from "../lib/failures.js";
import { hideKeys } from "../lib/secrets.js";
import { formatBytes } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { hintFor } from "./errors.js";
import { maxWait, rateLimit } from "./flags.js";
import { examples } from "./help.js";

/** Milliseconds. A person waits, and an API that does not answer is one of the findings. */
const patienceMs = 5_000;
/** The version that mended a bug which can lose committed pages while two programs use a file. */
const soundSqlite = "3.51.3";
/** Bytes. With less, SQLite's journal of one run may not fit. */
const leastFree = 32e6;

export function define(context: Context): Command {
  return new Command("doctor")
    .description(
      "Each line is `ok`, or `!` with the command that mends it; `?` is what could not be checked. Writes nothing, and " +
        "sends one request. The exit code is that of the first check that failed; a warning fails nothing.",
    )
    .addOption(rateLimit())
    .addOption(maxWait("5s"))
    .addHelpText(
      "after",
      examples(
        ["brandapi doctor", "is everything as it should be?"],
        ["brandapi doctor --json | jq 'select(.state != \"ok\")'", "the same for a script"],
      ),
    )
    .action((_, command: Command) => runDoctor(command.optsWithGlobals(), context));
}

async function runDoctor(options: GlobalOptions, { deps }: Context): Promise<void> {
  const { styleFor } = await import("../ui/style.js");
  const { green, yellow, red, dim } = styleFor(deps.stdout, { color: options.color !== false }, deps.env);
  const marks = { ok: green("ok"), warning: yellow("! "), failed: red("! "), unchecked: dim("? ") };
  const { profile, db } = options;
  const argv = [...(profile ? ["--profile", profile] : []), ...(db ? ["--db", db] : [])];
  const look = lookAt(options, deps);
  /** The messages so far, and the check of each: later checks that meet the same error point there. */
  const seen = new Map<string, string>();
  const failed: BrandapiError[] = [];
  try {
    for (const [check, run] of Object.entries(checks)) {
      const result = await run(look).catch(asBrandapiError);
      deps.signal.throwIfAborted();
      const error = typeof result === "string" ? null : result;
      const message = typeof result === "string" ? result : result.message;
      const earlier = error && seen.get(message);
      const state = !error ? "ok" : earlier ? "unchecked" : error instanceof Advice ? "warning" : "failed";
      if (error && !earlier) seen.set(message, check);
      if (error && state === "failed") failed.push(error);
      if (options.quiet && state === "ok") continue;
      const text = earlier ? `not checked: see \`${earlier}\`` : hideKeys(message);
      const hint = error?.hint && !earlier ? hideKeys(hintFor(error.hint, argv)) : null;
      const exit_code = state === "failed" && error ? error.exitCode : exitCodes.done;
      if (options.json) printJson(deps.stdout, { check, state, text, exit_code, hint });
      else deps.stdout.write(`${marks[state]} ${check}: ${escapeText(text)}\n`);
      if (hint && !options.json) deps.stdout.write(`     ${escapeText(hint)}\n`);
    }
  } finally {
    for (const close of look.closers) close();
  }
  if (failed[0])
    throw new ChecksFailed(`${counted(failed.length, "check")} failed.`, failed[0].exitCode, {
      hint: "each line that begins with `!` says what mends it",
    });
}

/** Thrown by a check for a warning: something to be done that fails nothing. */
class Advice extends BrandapiError {
  override readonly exitCode = exitCodes.done;
}

type Look = ReturnType<typeof lookAt>;

/** The checks in their order: first those that need no network. Each resolves to the text of its line. */
const checks: Readonly<Record<string, (look: Look) => Promise<string>>> = {
  async node({ deps }) {
    const { loadSqlite } = await import("../lib/sqlite.js");
    const Sqlite = await loadSqlite();
    const sqlite = String(new Sqlite(":memory:").prepare("SELECT sqlite_version()").pluck().get());
    if (sqlite.localeCompare(soundSqlite, "en", { numeric: true }) < 0)
      throw new Advice(`SQLite ${sqlite} is older than ${soundSqlite}, and can lose committed pages.`, {
        hint: "run `npm update better-sqlite3` in brandapi's folder",
      });
    return `Node ${deps.machine.version}, SQLite ${sqlite}; a program with one older than ${soundSqlite} should open the mirror with \`mode=ro\``;
  },

  async settings({ settings }) {
    const { requireAccess } = await import("../config/settings.js");
    const all = await settings();
    return `profile \`${all.profile}\`: ${requireAccess(all).baseUrl}`;
  },

  async disk({ settings }) {
    const { dbPath } = await settings();
    let folder = dirname(dbPath);
    while (!existsSync(folder)) folder = dirname(folder);
    for (const path of [folder, dbPath]) if (existsSync(path)) await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const text = `${formatBytes(bavail * bsize)} free in ${folder}`;
    if (bavail * bsize >= leastFree) return text;
    throw new ConfigurationError(text, { hint: "free some space, or move the mirror with `--db`" });
  },

  async mirror({ deps, mirror }) {
    const { damagedHint, findDamage, readInfo } = await import("../mirror/index.js");
    const open = await mirror();
    const damage = await deps.killable(async () => findDamage(open));
    if (damage === null) return `${open.path}: sound, of ${readInfo(open, "brand_name") ?? "no brand yet"}`;
    throw new MirrorUnusable(`The mirror is damaged (${damage}): ${open.path}`, { hint: damagedHint });
  },

  async tables({ deps, mirror }) {
    const { syncedBy, typedTables, withSnapshot } = await import("../query/index.js");
    const { compareTables, differenceText } = await import("../records/index.js");
    const { details, resources } = await import("../resources/index.js");
    const open = await mirror();
    const compare = async () => compareTables(open, [...resources, ...details]);
    const all = await withSnapshot(open, () => deps.killable(compare));
    if (all.length === 0) return `all ${typedTables().length} match the records`;
    const differing = typedTables().filter(({ name }) => all.some(({ table }) => table === name));
    const owners = new Set(differing.map(({ resource }) => syncedBy(resource).name));
    const texts = all.map((one) => `${one.table}: ${differenceText(one)}`);
    throw new Incomplete(`Tables differ from the mirror's records: ${texts.join("; ")}.`, {
      hint: `run \`brandapi verify ${[...owners].join(" ")} --repair\``,
    });
  },

  async backup({ deps, mirror }) {
    const { backupOf } = await import("./kept.js");
    const { text, isOld } = backupOf(await mirror(), deps.clock.now());
    if (!isOld) return text;
    throw new Advice(text, { hint: "run `brandapi backup`: the history of changes cannot be read again" });
  },

  async kept({ deps, mirror }) {
    const { leftIn } = await import("./kept.js");
    return await deps.killable(async () => leftIn(await mirror()));
  },

  async key({ identity }) {
    await identity();
    return "the API answers, and takes the key: `brandapi whoami` shows its scopes and expiry";
  },

  async clock({ identity }) {
    const { skew } = await identity();
    if (skew === null) return "within five minutes of the API's";
    throw new Advice(skew, { hint: "set it by a time server: `sudo timedatectl set-ntp true`" });
  },
};

/** Returns what the checks look at. Each is made when it is first needed; its error is the same for all checks. */
function lookAt(options: GlobalOptions, deps: Deps) {
  const closers: (() => void)[] = [];
  const settings = once(async () => {
    const { readSettings } = await import("../config/settings.js");
    return await readSettings(options, deps, { maxWaitMs: patienceMs });
  });
  const mirror = once(async () => {
    const { openMirrorOrNone } = await import("../query/index.js");
    const { schemaVersion } = await import("../mirror/index.js");
    const { isOfOtherShape } = await import("../records/index.js");
    const open = await openMirrorOrNone((await settings()).dbPath);
    closers.push(() => open.db.close());
    if (schemaVersion(open) === "current" && !isOfOtherShape(open)) return open;
    throw new Advice(`There is no mirror yet, or one of an older version: ${open.path}`, {
      hint: "run `brandapi sync`, or `brandapi demo` without a key",
    });
  });
  const identity = once(async () => {
    const { openApi } = await import("./open-api.js");
    const { silentReporter } = await import("../lib/reporter.js");
    const api = await openApi(await settings(), deps, silentReporter);
    closers.push(() => api.close());
    return await (await import("./identity.js")).readIdentity(api);
  });
  return { deps, settings, mirror, identity, closers };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
