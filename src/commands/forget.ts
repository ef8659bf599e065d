import { Command } from "commander";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { nearest } from "../lib/nearest.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { Held } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { wait } from "./flags.js";
import { examples } from "./help.js";

interface ForgetFlags extends GlobalOptions {
  host: string;
  yes?: boolean;
  wait?: boolean;
}

export function define(context: Context): Command {
  return new Command("forget")
    .description(
      "Takes the host's name, handle, photo, links, title, intro, location and motto out of records, their history " +
        "and all tables, and writes the file anew. The id stays, so sums stay. Asks once. " +
        "Backups and exports made before still hold the host.",
    )
    .requiredOption("--host <id>", "the host's id or handle")
    .option("--yes", "do not ask")
    .addOption(wait())
    .addHelpText(
      "after",
      examples(
        ["brandapi forget --host ada", "asks, then forgets the host with this handle"],
        ["brandapi forget --host 3f0c9a52 --yes", "by id, for scripts"],
      ),
    )
    .action((_, command: Command) => runForget(command.optsWithGlobals(), context));
}

async function runForget(options: ForgetFlags, { deps }: Context): Promise<void> {
  const { readSettings } = await import("../config/settings.js");
  const { openMirror, openMirrorReadOnly } = await import("../query/index.js");
  const { beginRun, lastBackup, lockMirror, saveRun } = await import("../mirror/index.js");
  const { keepOut } = await import("../records/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { clock, killable, signal } = deps;
  const { dbPath } = await readSettings(options, deps);
  const reporter = createReporter(deps, options);
  (await killable(() => openMirrorReadOnly(dbPath))).db.close();
  const lock = await lockMirror(dbPath, {
    wait: options.wait ?? false,
    clock,
    signal,
    queued: reporter.note,
  });
  try {
    const mirror = await killable(() => openMirror(dbPath));
    try {
      const id = await killable(async () => findHost(mirror, options.host));
      if (!options.yes) await confirm(id, deps);
      const at = formatInstant(clock.now());
      const { held, isScrubbed } = await killable(async () =>
        keepOut(mirror, { forgotten: [id] }, (found) => {
          const run = beginRun(mirror, "forget", at);
          saveRun(mirror, { ...run, finished_at: at, rows_changed: recordsIn(found), outcome: "done" });
        }),
      );
      const backup = lastBackup(mirror);
      if (options.json) printJson(deps.stdout, { host_id: id, ...held, last_backup: backup });
      else if (!options.quiet && held) deps.stdout.write(text(id, held, backup?.path));
      if (!isScrubbed)
        reporter.warn(
          "another program reads the mirror, and its log still holds the host: close that program, then run this again",
        );
    } finally {
      mirror.db.close();
    }
  } finally {
    lock.release();
    reporter.close();
  }
}

function recordsIn({ records }: Held): number {
  return Object.values(records).reduce((sum, count) => sum + count, 0);
}

function text(id: string, held: Held, backup: string | undefined): string {
  const records = Object.entries(held.records).map(([name, count]) => `${name} ${count}`);
  return [
    `Forgot the host ${escapeText(id)} in ${counted(recordsIn(held), "record")}${records.length > 0 ? ` (${records.join(", ")})` : ""}, ` +
      `${counted(held.versions, "earlier version")} and ${counted(held.changes, "change")}. The id is kept.`,
    `Backups and exports made before still hold the host${backup ? `; the last backup: ${escapeText(backup)}` : ""}.`,
    "",
  ].join("\n");
}

/** Returns the id of the host that has this id or handle. @throws UsageError if there is none, or more than one */
function findHost(mirror: Mirror, named: string): string {
  const handle = named.replace(/^@/, "");
  const hosts = mirror.db
    .prepare<[string, string], { id: string; username: string | null }>(
      `SELECT DISTINCT CAST(value ->> 'id' AS TEXT) AS id, value ->> 'username' AS username
       FROM (SELECT json FROM records UNION ALL SELECT json FROM record_versions) AS stored, json_tree(stored.json)
       WHERE (instr(stored.json, ?) > 0 OR instr(stored.json, ?) > 0) AND type = 'object'
         AND (key = 'host' OR value ->> 'username' IS NOT NULL) AND value ->> 'id' IS NOT NULL`,
    )
    .all(named, handle);
  if (hosts.some(({ id }) => id === named)) return named;
  const ids = new Set(hosts.filter(({ username }) => username === handle).map(({ id }) => id));
  const [id] = ids;
  if (id !== undefined && ids.size === 1) return id;
  if (id !== undefined)
    throw new UsageError(`More than one host has had this handle: ${[...ids].join(", ")}.`, {
      hint: "name the host by its id",
    });
  const all = mirror.db.prepare<[], string>("SELECT username FROM hosts WHERE username IS NOT NULL");
  const near = nearest(handle, all.pluck().all());
  throw new UsageError(`No host in this mirror has this id or handle: \`${named}\`.`, {
    hint: near ? `did you mean \`${near}\`?` : 'see `brandapi query "SELECT * FROM hosts"`',
  });
}

async function confirm(id: string, deps: Context["deps"]): Promise<void> {
  const { openPrompt } = await import("../ui/prompt.js");
  if (!deps.stdin.isTTY)
    throw new UsageError("Forgetting a host cannot be taken back, and there is no terminal to ask on.", {
      hint: "add `--yes`",
    });
  const prompt = openPrompt(deps);
  try {
    const answer = await prompt.ask(`Forget the host ${escapeText(id)} for good? [y/N] `, { hidden: false });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    prompt.close();
  }
  throw new UsageError("Nothing was forgotten.", { hint: "answer `y`, or add `--yes`" });
}
