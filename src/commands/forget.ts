import { type Command, Option } from "commander";
import { TerminalReporter } from "../cli/progress.js";
import { openPrompt } from "../cli/prompt.js";
import { withReadSession } from "../cli/read-session.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { MirrorBusy, UsageError } from "../errors.js";
import { findLastBackup } from "../store/backups.js";
import { connect, type Mirror, withMirror } from "../store/database.js";
import { loadHosts, type NamedHost } from "../store/host-names.js";
import { lockMirror } from "../store/mirror-lock.js";
import { redactMirror, scrubFile } from "../store/redact-mirror.js";
import { insertRun, updateRun } from "../store/runs.js";
import { escapeLines, printJson } from "../util/terminal.js";
import { formatInstant } from "../util/timestamps.js";

type ForgetFlags = GlobalFlags & { host: string; yes?: boolean };

export const about =
  "Erases the host's name, links, photo and text fields from records, history and tables, and omits them from all future syncs. " +
  "The ID and all totals are kept. Shows the host and asks for confirmation. Existing backups and exports are not changed.";

export const examples = {
  "brandapi forget --host ada": "forget the host with this handle",
  "brandapi forget --host 3f0c9a52": "forget the host whose ID starts with these characters",
  "brandapi forget --host 3f0c9a52-1b7e-4c0d-9f3a-6a2d1e5b8c47 --yes": "skip the confirmation, for scripts",
};

/** The minimum length of an ID prefix. A shorter prefix could match the wrong host by accident. */
const minPrefixLength = 8;

export function define(command: Command): void {
  command
    .addOption(
      new Option("--host <id>", "the host's handle or ID, or at least the first 8 characters of the ID")
        .argParser(parseHost)
        .makeOptionMandatory(),
    )
    .option("--yes", "skip the confirmation");
}

export async function run({ host: typedHost, ...flags }: ForgetFlags, { deps }: Context): Promise<void> {
  const { json, quiet, yes } = flags;
  const { dbPath } = readSettings(flags, deps);
  const reporter = new TerminalReporter(deps, flags);
  const hosts = await withReadSession(flags, deps, async ({ mirror }) => loadHosts(mirror));
  const host = resolveHost(typedHost.replace(/^@/, ""), hosts);
  const { id } = host;
  if (!yes) await confirm(host, deps);
  const lock = await lockMirror(dbPath, deps);
  const { records, last_backup } = await withMirror(connect(dbPath), (mirror) =>
    forgetHost(mirror, id, reporter, deps),
  ).finally(lock.release);
  const rewrittenCounts = Object.entries(records).map(([resource, count]) => `${resource} ${count}`);
  const text =
    `Forgot the host ${id}; the ID is kept. Rewritten records, including their history: ${rewrittenCounts.join(", ") || "none"}.\n` +
    `Existing backups, exports and mirrors kept by \`backup --restore\` still contain the host. Last backup: ${last_backup?.path ?? "none"}`;
  if (json) printJson(deps.stdout, { host_id: id, records, last_backup });
  else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
}

/** @throws UsageError unless the user confirms */
async function confirm(host: NamedHost, deps: Deps): Promise<void> {
  const { ask, close } = openPrompt(deps);
  const question = `Forget ${escapeLines(describeHost(host))} permanently (add \`--yes\` to skip this question)? [y/N] `;
  const answer = await ask(question, {})
    .catch((error: unknown) => {
      // If the input ends, for example because there is no terminal, the answer is no.
      if (error instanceof UsageError) return "";
      throw error;
    })
    .finally(close);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError("No host was forgotten.", { hint: "answer `y`, or add `--yes`" });
}

/** @throws MirrorBusy if the host's data was removed from the tables, but traces remain in the mirror's files */
function forgetHost(mirror: Mirror, id: string, { warn }: TerminalReporter, { clock }: Deps) {
  const at = formatInstant(clock.now());
  const { counts, warnings } = mirror.transaction(() => {
    const rewritten = redactMirror(mirror, [id]);
    const runId = insertRun(mirror, "forget", at);
    updateRun(mirror, runId, { finished_at: at, rows_changed: rewritten.total, outcome: "done" });
    return rewritten;
  });
  for (const warning of warnings) warn(warning);
  if (!scrubFile(mirror))
    throw new MirrorBusy(
      "The host has been forgotten, but traces of the host's data remain in the mirror's files.",
      {
        hint: `close other programs that read the mirror, free some disk space, then run \`brandapi forget --host ${id}\``,
      },
    );
  return { records: counts, last_backup: findLastBackup(mirror) };
}

function parseHost(text: string, previous: string | undefined): string {
  if (previous === undefined) return text;
  throw new UsageError("`--host` was given twice.", { hint: "forget one host at a time" });
}

/**
 * Returns the host that an ID, ID prefix or handle identifies. Throws a UsageError unless there is exactly one match.
 * Similar names are not suggested, because erasing the wrong host cannot be undone.
 */
function resolveHost(typed: string, hosts: readonly NamedHost[]): NamedHost {
  const hint =
    `use the handle, or at least ${minPrefixLength} characters of the ID: ` +
    '`brandapi query "SELECT * FROM hosts"` lists both; forgotten hosts have no handle';
  const exact = hosts.find(({ id }) => id === typed);
  if (exact) return exact;
  const byHandle = hosts.filter(({ handles }) => handles.includes(typed));
  const isPrefix = typed.length >= minPrefixLength;
  const byPrefix = hosts.filter(({ id }) => isPrefix && id.toLowerCase().startsWith(typed.toLowerCase()));
  const matches = new Set([...byHandle, ...byPrefix]);
  const [host] = matches;
  if (!host) throw new UsageError(`Unknown host: \`${typed}\`.`, { hint });
  if (matches.size === 1) return host;
  throw new UsageError(`\`${typed}\` matches ${matches.size} hosts.`, {
    hint: "use the complete ID",
  });
}

/** Describes a host in a form such as `@ada (Ada Lovelace, ID 3f0c…)`. */
function describeHost({ id, handles: [handle, ...others], name }: NamedHost): string {
  const also = others.length > 0 ? `also @${others.join(", @")}` : [];
  const facts = [handle === undefined ? [] : (name ?? []), also, `ID ${id}`].flat();
  return `${handle === undefined ? (name ?? "a host without a name") : `@${handle}`} (${facts.join(", ")})`;
}
