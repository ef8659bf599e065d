import type { Command } from "commander";
import { readSettings } from "../config/settings.js";
import { MirrorBusy, UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import { formatInstant } from "../lib/times.js";
import { beginRun, lastBackup, lockMirror, readInfo, saveRun, withFile } from "../mirror/index.js";
import { openMirrorReadOnly } from "../query/index.js";
import { keepOut, readHosts } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { openPrompt } from "../ui/prompt.js";
import { escapeLines } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";

interface ForgetFlags extends GlobalOptions {
  host: string;
  yes?: boolean;
}

export const about =
  "Removes the host's names, links, photo and texts from records, their history and all tables, and keeps them out of " +
  "later syncs. The id stays, so sums stay. Asks once. Backups and exports that were made before still hold the host.";

export const examples = {
  "brandapi forget --host ada": "asks, then forgets the host with this handle",
  "brandapi forget --host 3f0c9a52 --yes": "by id, for scripts",
};

export function define(command: Command): void {
  command
    .requiredOption("--host <id>", "the id or handle, as the view `hosts` shows it")
    .option("--yes", "do not ask");
}

export async function run(options: ForgetFlags, { deps }: Context): Promise<void> {
  const { json, quiet, yes } = options;
  const { dbPath } = await readSettings(options, deps);
  (await deps.killable(() => openMirrorReadOnly(dbPath))).db.close();
  await withFile(dbPath, async (mirror) => {
    const hosts = readHosts(mirror);
    const name = options.host.replace(/^@/, "");
    const id = hosts.get(name);
    if (id === undefined) {
      const near = nearest(name, hosts.keys());
      throw new UsageError(`No single host in this mirror has this id or handle: \`${name}\`.`, {
        hint: near ? `did you mean \`${near}\`?` : 'see `brandapi query "SELECT * FROM hosts"`',
      });
    }
    const { ask, close } = openPrompt(deps);
    const question = `Forget the host ${escapeLines(id)} for good (\`--yes\` does not ask)? [y/N] `;
    const answer = yes ? "y" : await ask(question, {}).finally(close);
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new UsageError("Nothing was forgotten.", { hint: "answer `y`, or add `--yes`" });
    const lock = await lockMirror(dbPath, { wait: false, ...deps });
    const at = formatInstant(deps.clock.now());
    const work = async () => {
      const { total, counts } = keepOut(mirror, [id]);
      const run = beginRun(mirror, "forget", at);
      saveRun(mirror, { ...run, finished_at: at, rows_changed: total, outcome: "done" });
      return counts;
    };
    const records = await deps.killable(work).finally(lock.release);
    if (readInfo(mirror, "to_scrub") !== null)
      throw new MirrorBusy("The host is forgotten, but a program that reads the mirror has its log open.", {
        hint: `close that program, then run \`brandapi forget --host ${id}\``,
      });
    const last_backup = lastBackup(mirror);
    const touched = Object.entries(records).map(([resource, count]) => `${resource} ${count}`);
    const text =
      `Forgot the host ${id}, whose id is kept. Records rewritten with their history: ${touched.join(", ") || "none"}.\n` +
      `Backups, mirrors set aside and exports made before still hold the host; the last backup: ${last_backup?.path ?? "none"}`;
    if (json) printJson(deps.stdout, { host_id: id, records, last_backup });
    else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
  });
}
