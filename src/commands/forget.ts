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
  const { keepOut, readKeptOut, scrub } = await import("../records/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { clock, killable, signal } = deps;
  const { dbPath } = await readSettings(options, deps);
  const { note, warn } = createReporter(deps, options);
  const present = await killable(() => openMirrorReadOnly(dbPath));
  const id = await killable(async () => findHost(present, options.host)).finally(() => present.db.close());
  if (!options.yes) await confirm(id, deps);
  const lock = await lockMirror(dbPath, { wait: options.wait ?? false, clock, signal, queued: note });
  try {
    const mirror = await killable(() => openMirror(dbPath));
    try {
      const { omit, forgotten } = readKeptOut(mirror);
      const at = formatInstant(clock.now());
      const record = (found: Held) => {
        const run = beginRun(mirror, "forget", at);
        saveRun(mirror, { ...run, finished_at: at, rows_changed: sumOf(found), outcome: "done" });
      };
      const kept = { omit, forgotten: [...new Set([...forgotten, id])] };
      const records = await killable(async () => keepOut(mirror, kept, record));
      const backup = lastBackup(mirror);
      if (options.json) printJson(deps.stdout, { host_id: id, records, last_backup: backup });
      else if (!options.quiet) {
        const parts = Object.entries(records).map(([name, count]) => `${name} ${count}`);
        const where = parts.length > 0 ? ` (${parts.join(", ")})` : "";
        const last = backup ? `; the last backup: ${escapeText(backup.path)}` : "";
        deps.stdout.write(
          `Forgot the host ${escapeText(id)} in ${counted(sumOf(records), "record")} with their history${where}. The id is kept.\n` +
            `Backups and exports made before still hold the host${last}.\n`,
        );
      }
      if (!scrub(mirror))
        warn(
          "another program reads the mirror, and its log still holds the host: close it, then run this again",
        );
    } finally {
      mirror.db.close();
    }
  } finally {
    lock.release();
  }
}

function sumOf(held: Held): number {
  return Object.values(held).reduce((sum, count) => sum + count, 0);
}

/** Returns the id of the host that has, or had, this id or handle. @throws UsageError if it is not one host */
function findHost(mirror: Mirror, named: string): string {
  const handle = named.replace(/^@/, "");
  const hosts = mirror.db
    .prepare<[], { id: string; username: string | null }>(
      `SELECT DISTINCT value ->> 'id' || '' AS id, value ->> 'username' AS username
       FROM (SELECT json FROM records UNION ALL SELECT json FROM record_versions) AS stored, json_tree(stored.json)
       WHERE key = 'host' AND value ->> 'id' IS NOT NULL`,
    )
    .all();
  const matching = hosts.filter(({ id, username }) => id === named || username === handle);
  const [id, ...others] = new Set(matching.map((host) => host.id));
  if (id !== undefined && others.length === 0) return id;
  const near = nearest(
    handle,
    hosts.flatMap(({ username }) => username ?? []),
  );
  throw new UsageError(
    `${id ? "More than one" : "No"} host in this mirror has this id or handle: \`${named}\`.`,
    {
      hint: id
        ? `name one by its id: ${[id, ...others].join(", ")}`
        : near
          ? `did you mean \`${near}\`?`
          : 'see `brandapi query "SELECT * FROM hosts"`',
    },
  );
}

async function confirm(id: string, deps: Context["deps"]): Promise<void> {
  const { openPrompt } = await import("../ui/prompt.js");
  const { ask, close } = openPrompt(deps);
  const question = `Forget the host ${escapeText(id)} for good? [y/N] `;
  const answer = await ask(question, { hidden: false })
    .catch(() => "")
    .finally(close);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("Nothing was forgotten.", { hint: "answer `y`, or add `--yes`" });
}
