import { existsSync } from "node:fs";
import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { readSettings, requireAccess, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { BrandapiError, ConfigurationError, exitCodes, Incomplete, MirrorUnusable } from "../errors.js";
import { asBrandapiError } from "../lib/failures.js";
import { silentReporter } from "../lib/reporter.js";
import { hideKeys } from "../lib/secrets.js";
import { loadSqlite } from "../lib/sqlite.js";
import { formatSpan } from "../lib/times.js";
import { damagedHint, findDamage, type Mirror, readInfo, schemaVersion } from "../mirror/index.js";
import { openMirrorOrNone, syncedBy, typedTables, viewsToMake, withSnapshot } from "../query/index.js";
import { compareTables, differenceText, isOfOtherShape } from "../records/index.js";
import { details, resources } from "../resources/index.js";
import { formatBytes } from "../ui/numbers.js";
import type { GlobalOptions } from "./context.js";
import { readIdentity } from "./identity.js";
import { backupOf, leftIn } from "./kept.js";
import { openApi } from "./open-api.js";

/** Milliseconds. Somebody waits, and a dead network is one of the answers. */
const patienceMs = 5_000;
/** Milliseconds that this machine's clock may be off. */
const mostOffMs = 300_000;
/** The version that mended a bug which can lose committed pages while two programs use a file. */
const soundSqlite = "3.51.3";
/** Bytes. With less, SQLite's journal of one run may not fit. */
const leastFree = 32e6;

/** Thrown by a check for a warning: something to be done that fails nothing. */
class Advice extends BrandapiError {
  override readonly exitCode = exitCodes.done;
}

/** What the checks look at. Each part is made when it is first needed; its error is the same for all checks. */
interface Look {
  deps: Deps;
  settings(): Promise<Settings>;
  mirror(): Promise<Mirror>;
  /** Asks `/me` once. Resolves to the API's clock less this machine's, in milliseconds; null if it sent no date. */
  offset(): Promise<number | null>;
}

/** The checks in the order in which they run: first those that need no network. Each resolves to the text of its line. */
const checks: Readonly<Record<string, (look: Look) => Promise<string>>> = {
  async node({ deps }) {
    const db = new (await loadSqlite())(":memory:");
    const sqlite = String(db.prepare("SELECT sqlite_version()").pluck().get());
    db.close();
    if (sqlite.localeCompare(soundSqlite, "en", { numeric: true }) < 0)
      throw new Advice(`SQLite ${sqlite} is older than ${soundSqlite}, and can lose committed pages.`, {
        hint: "run `npm update better-sqlite3` in brandapi's folder",
      });
    return `Node ${deps.machine.version}, SQLite ${sqlite}; a program with one older than ${soundSqlite} should open the mirror with \`mode=ro\``;
  },

  async settings({ settings }) {
    const all = await settings();
    return `profile \`${all.profile}\`: ${requireAccess(all).baseUrl}`;
  },

  async disk({ settings }) {
    const { dbPath } = await settings();
    let folder = dirname(dbPath);
    while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    if (existsSync(dbPath)) await access(dbPath, constants.R_OK | constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const text = `${formatBytes(bavail * bsize)} free in ${folder}`;
    if (bavail * bsize >= leastFree) return text;
    throw new ConfigurationError(text, { hint: "free some space, or move the mirror with `--db`" });
  },

  async mirror({ deps, mirror }) {
    const open = await mirror();
    const damage = await deps.killable(async () => findDamage(open));
    if (damage === null) return `${open.path}: sound, of ${readInfo(open, "brand_name") ?? "no brand yet"}`;
    throw new MirrorUnusable(`The mirror is damaged (${damage}): ${open.path}`, {
      hint: damagedHint,
    });
  },

  async tables({ deps, mirror }) {
    const open = await mirror();
    const all = await withSnapshot(open, () =>
      deps.killable(async () => compareTables(open, [...resources, ...details])),
    );
    const differing = typedTables().filter(({ name }) => all.some(({ table }) => table === name));
    const owners = new Set(differing.map(({ resource }) => syncedBy(resource).name));
    if (all.length > 0)
      throw new Incomplete(
        `Tables differ from the mirror's records: ${all.map((one) => `${one.table}: ${differenceText(one)}`).join("; ")}.`,
        { hint: `run \`brandapi verify ${[...owners].join(" ")} --repair\`` },
      );
    const views = viewsToMake(open);
    if (views.length === 0) return `all ${typedTables().length} match the records`;
    throw new Advice(`Views are missing, or of another version: ${views.join(", ")}.`, {
      hint: "run `brandapi status`: it makes them again",
    });
  },

  async backup({ deps, mirror }) {
    const { text, wrong } = backupOf(await mirror(), deps.clock.now());
    if (wrong) throw new Advice(text, { hint: wrong });
    return text;
  },

  async kept({ deps, mirror }) {
    const open = await mirror();
    const { text, wrong } = await withSnapshot(open, () => deps.killable(async () => leftIn(open)));
    if (wrong) throw new Incomplete(text, { hint: wrong });
    return text;
  },

  async key({ offset }) {
    await offset();
    return "the API answers, and takes the key: `brandapi whoami` shows its scopes and expiry";
  },

  async clock({ offset }) {
    const ms = await offset();
    if (ms === null) return "the API's answers have no date to compare with";
    const off = formatSpan(Math.abs(ms));
    if (Math.abs(ms) <= mostOffMs) return `it agrees with the API's (${off} apart)`;
    throw new Advice(`This machine's clock is ${off} ${ms > 0 ? "behind" : "ahead of"} the API's.`, {
      hint: "set it by a time server: `sudo timedatectl set-ntp true`",
    });
  },
};

/** Runs the checks, one after another. An error ends the check that meets it, and no other. */
export async function* examine(options: GlobalOptions, deps: Deps) {
  const closers: (() => void)[] = [];
  const look = lookAt(deps, options, closers);
  /** The messages so far, and which check said each: others that meet the same error point there. */
  const said = new Map<string, string>();
  try {
    for (const [check, run] of Object.entries(checks)) {
      const result = await run(look).catch(asBrandapiError);
      deps.signal.throwIfAborted();
      const done = { check, hint: null, exit_code: exitCodes.done };
      if (typeof result === "string") yield { ...done, state: "ok", text: result } as const;
      else if (said.has(result.message))
        yield {
          ...done,
          state: "unchecked",
          text: `not checked: see \`${said.get(result.message)}\``,
        } as const;
      else {
        const { exitCode: exit_code, hint, message } = result;
        said.set(message, check);
        const state = exit_code === exitCodes.done ? "warning" : "failed";
        yield {
          check,
          state,
          text: hideKeys(message),
          hint: hint ? hideKeys(hint) : null,
          exit_code,
        } as const;
      }
    }
  } finally {
    for (const close of closers.reverse()) close();
  }
}

function lookAt(deps: Deps, options: GlobalOptions, closers: (() => void)[]): Look {
  const settings = once(() => readSettings(options, deps, { maxWaitMs: patienceMs }));
  const mirror = once(async () => {
    const open = await openMirrorOrNone((await settings()).dbPath);
    closers.push(() => open.db.close());
    if (schemaVersion(open) === "current" && !isOfOtherShape(open)) return open;
    throw new Advice(`There is no mirror yet, or one of an older version: ${open.path}`, {
      hint: "run `brandapi sync`, or `brandapi demo` without a key",
    });
  });
  const offset = once(async () => {
    const known = await settings();
    let ms: number | null = null;
    const fetch: Deps["fetch"] = async (url, init) => {
      const answer = await deps.fetch(url, init);
      const date = Date.parse(answer.headers.get("date") ?? "");
      if (!Number.isNaN(date)) ms = date - deps.clock.now();
      return answer;
    };
    const api = await openApi(known, { ...deps, fetch }, silentReporter);
    closers.push(() => api.close());
    await readIdentity(api);
    return ms;
  });
  return { deps, settings, mirror, offset };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
