import type { Command } from "commander";
import { readSettings } from "../config/settings.js";
import { MirrorBusy, UsageError } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import { beginRun, lastBackup, lockMirror, saveRun, withFile, withMirror } from "../mirror/index.js";
import { openMirrorReadOnly } from "../query/index.js";
import { keepOut, readHosts, scrub } from "../records/index.js";
import { printJson } from "../ui/print.js";
import { openPrompt } from "../ui/prompt.js";
import { escapeLines } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { checkName } from "./flags.js";

type ForgetFlags = GlobalOptions & { host: string; yes?: boolean };

export const about =
  "Removes the host's names, links, photo and texts from records, their history and all tables, and keeps them out of " +
  "later syncs. The id stays, so sums stay. Asks once. Backups and exports that were made before still hold the host.";

export const examples = {
  "brandapi forget --host ada": "asks, then forgets the host with this handle",
  "brandapi forget --host 3f0c9a52 --yes": "by id, for scripts",
};

export function define(command: Command): void {
  command
    .requiredOption("--host <id>", "its id, or a handle that no other host has had; see the view `hosts`")
    .option("--yes", "do not ask");
}

export async function run({ host, ...options }: ForgetFlags, { deps }: Context): Promise<void> {
  const { json, quiet, yes } = options;
  const { dbPath } = await readSettings(options, deps);
  const hosts = await deps.killable(() => withMirror(openMirrorReadOnly(dbPath), readHosts));
  const where = 'see `brandapi query "SELECT * FROM hosts"`';
  const name = checkName("host or ambiguous handle", host.replace(/^@/, ""), [...hosts.keys()], where);
  const id = hosts.get(name) ?? name;
  const { ask, close } = openPrompt(deps);
  const question = `Forget the host ${escapeLines(id)} for good (add \`--yes\` to skip this question)? [y/N] `;
  const answer = yes ? "y" : await ask(question, {}).finally(close);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("Nothing was forgotten.", { hint: "answer `y`, or add `--yes`" });
  const lock = await lockMirror(dbPath, { wait: false, ...deps });
  const forget = () =>
    withFile(dbPath, (mirror) => {
      const at = formatInstant(deps.clock.now());
      const { counts } = mirror.transaction(() => {
        const rewritten = keepOut(mirror, [id]);
        const run = beginRun(mirror, "forget", at);
        saveRun(mirror, { ...run, finished_at: at, rows_changed: rewritten.total, outcome: "done" });
        return rewritten;
      });
      if (!scrub(mirror))
        throw new MirrorBusy("The host is forgotten, but the mirror's files still hold bytes of it.", {
          hint: `close programs that read the mirror, free space, then run \`brandapi forget --host ${id}\``,
        });
      return { host_id: id, records: counts, last_backup: lastBackup(mirror) };
    });
  const done = await deps.killable(forget).finally(lock.release);
  const touched = Object.entries(done.records).map(([resource, count]) => `${resource} ${count}`);
  const text =
    `Forgot the host ${id}, whose id is kept. Records rewritten with their history: ${touched.join(", ") || "none"}.\n` +
    `Backups, mirrors set aside and exports made before still hold the host; the last backup: ${done.last_backup?.path ?? "none"}`;
  if (json) printJson(deps.stdout, done);
  else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
}
