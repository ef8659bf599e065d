import { existsSync } from "node:fs";
import { Command } from "commander";
import { readSettings } from "../config/settings.js";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import { formatInstant } from "../lib/times.js";
import { beginRun, lastBackup, lockMirror, type Mirror, readInfo, saveRun } from "../mirror/index.js";
import { openMirror, openMirrorReadOnly } from "../query/index.js";
import { type Held, keepOut, readHosts, readKeptOut } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { openPrompt } from "../ui/prompt.js";
import { createReporter } from "../ui/reporter.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { examples } from "./help.js";

interface ForgetFlags extends GlobalOptions {
  host: string;
  yes?: boolean;
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
  const { clock, killable, signal } = deps;
  const { dbPath } = await readSettings(options, deps);
  const { warn } = createReporter(deps, options);
  const present = await killable(() => openMirrorReadOnly(dbPath));
  const id = await killable(async () => findHost(present, options.host)).finally(() => present.db.close());
  if (!options.yes) await confirm(id, deps);
  const lock = await lockMirror(dbPath, { wait: false, clock, signal });
  let mirror: Mirror | undefined;
  try {
    const open = await killable(() => openMirror(dbPath));
    mirror = open;
    const { omit, forgotten } = readKeptOut(open);
    const kept = { omit, forgotten: [...new Set([...forgotten, id])] };
    const records = await killable(async () =>
      keepOut(open, kept, (held) => record(open, held, clock.now())),
    );
    const last = lastBackup(open);
    const backup = last && existsSync(last.path) ? last : null;
    if (options.json) printJson(deps.stdout, { host_id: id, records, last_backup: backup });
    else if (!options.quiet) {
      const counts = Object.entries(records).map(([name, count]) => `${name} ${count}`);
      const where = backup ? `; the last backup: ${escapeText(backup.path)}` : "";
      deps.stdout.write(
        `Forgot the host ${escapeText(id)}, whose id is kept. Records rewritten with their history: ` +
          `${counts.join(", ") || "none"}.\nBackups and exports made before still hold the host${where}.\n`,
      );
    }
    if (readInfo(open, "to_scrub") !== null)
      warn("a program that reads the mirror keeps the host in its log: close it, and run this again");
  } finally {
    mirror?.db.close();
    lock.release();
  }
}

/** Makes `forget` a row of `sync_runs`. */
function record(mirror: Mirror, held: Held, now: number): void {
  const at = formatInstant(now);
  const rows_changed = Object.values(held).reduce((sum, count) => sum + count, 0);
  saveRun(mirror, { ...beginRun(mirror, "forget", at), finished_at: at, rows_changed, outcome: "done" });
}

/** Returns the id of the host that has, or had, this id or handle. @throws UsageError if it is not one host */
function findHost(mirror: Mirror, named: string): string {
  const handle = named.replace(/^@/, "");
  const hosts = readHosts(mirror);
  const matching = hosts.filter(({ id, username }) => id === named || username === handle);
  const ids = [...new Set(matching.map(({ id }) => id))];
  if (ids[0] !== undefined && ids.length === 1) return ids[0];
  const handles = hosts.flatMap(({ username }) => username ?? []);
  const near = ids.length > 1 ? ids.join("` or `") : nearest(handle, handles);
  throw new UsageError(`No single host in this mirror has this id or handle: \`${named}\`.`, {
    hint: near ? `did you mean \`${near}\`?` : 'see `brandapi query "SELECT * FROM hosts"`',
  });
}

async function confirm(id: string, deps: Context["deps"]): Promise<void> {
  const { ask, close } = openPrompt(deps);
  const question = `Forget the host ${escapeText(id)} for good? [y/N] `;
  const answer = await ask(question, { hidden: false })
    .catch(() => "")
    .finally(close);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("Nothing was forgotten.", { hint: "answer `y`, or add `--yes`" });
}
