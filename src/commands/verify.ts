import { type Command, Option } from "commander";
import { throwIfFailed } from "../cli/all-profiles.js";
import type { Context } from "../cli/context.js";
import { verifyDeltaTables } from "../cli/delta-output.js";
import { chooseResources, waitOption } from "../cli/flags.js";
import { withMirrorRun } from "../cli/mirror-run.js";
import type { GlobalOptions } from "../config/settings.js";
import { Incomplete, UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { wasRead } from "../store/runs.js";
import { futureText } from "../sync/counts.js";
import { defaultOptions } from "../sync/session.js";
import { forEachResource } from "../sync/sync-resources.js";
import { printJson } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { escapeText } from "../util/terminal-text.js";
import { formatCount, pluralize } from "../util/text.js";
import { formatMinute } from "../util/times.js";
import type { Evidence } from "../verify/evidence.js";
import type { MonthResult } from "../verify/finding.js";
import { type FullVerdict, verifyResource } from "../verify/verify-resource.js";

/** Returns a verdict as a person reads it: neighbouring months of one state are one line. */
export function verdictText(verdict: FullVerdict): string {
  const { api_total: api, mirror_total: here, mended, months, resource, tables } = verdict;
  const isCounted = api !== null && here !== null;
  const totals = isCounted ? `, ${formatCount(api)} in the API and ${formatCount(here)} here` : "";
  const lines = [`${resource}: ${verdict.state}${totals} (${pluralize(verdict.requests, "request")})`];
  if (mended) {
    const { rows_changed, rows_new, rows_removed, run_id } = mended;
    const rows = `${rows_new} new, ${rows_changed} changed, ${rows_removed} removed`;
    lines.push(`  mended: ${rows}: \`brandapi changes ${resource} --run ${run_id}\``);
  }
  for (const { first, month, state, why, read_at } of spansOf(months)) {
    const span = first === month ? first : `${first} to ${month}`;
    const read = read_at ? `; read since ${formatMinute(read_at)}` : "";
    lines.push(`  ${span}: ${state}: ${escapeText(why)}${read}`);
  }
  if (verdict.future) lines.push(`  not due yet: ${futureText(verdict.future)}`);
  for (const { table, why } of tables.differences) lines.push(`  table ${table}: ${tables.state}: ${why}`);
  if (verdict.blind_spot !== "") lines.push(`  cannot see: ${verdict.blind_spot}`);
  return `${lines.join("\n")}\n`;
}

/** Returns claims as a table, each with the two lines that print its numbers. */
export function evidenceText(claims: readonly Evidence[]): string {
  const titles = ["check", "from", "to", "API", "mirror", "", "asked at", "note"];
  const minute = (at: string | null) => at && formatMinute(at);
  const rows = claims.map(({ agrees, api, asked_at, check, from, mirror, note, to }) => {
    let verdict = agrees ? "agrees" : "differs";
    if (agrees === null) verdict = "unproven";
    return [check, minute(from), minute(to), api, mirror, verdict, minute(asked_at), note];
  });
  const [header, ...lines] = renderTable(titles, rows).split("\n");
  const typed = (line: string | null) => (line ? `    ${line}\n` : "");
  const rest = claims.map(({ request, sql }, nth) => `  ${lines[nth]}\n${typed(request)}${typed(sql)}`);
  return `  ${header}\n${rest.join("")}`;
}

/** Months from `first` to `month`. */
type Span = MonthResult & { first: string };

/** Returns neighbouring months that have one state for one reason as one span, with the oldest read of them. */
function spansOf(months: readonly MonthResult[]): Span[] {
  const spans: Span[] = [];
  for (const result of months) {
    const last = spans.at(-1);
    if (last?.state !== result.state || last.why !== result.why)
      spans.push({ ...result, first: result.month });
    else {
      last.month = result.month;
      last.read_at = [last.read_at, result.read_at].filter((at) => at !== null).sort()[0] ?? null;
    }
  }
  return spans;
}

interface VerifyFlags extends GlobalOptions {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  delta?: string;
}

export const about =
  "Compares orders and content by counts and daily totals, with few requests for the whole history. Reads other " +
  "resources completely. Also compares the tables with the records they are built from. Says what it cannot detect.";

export const examples = {
  "brandapi verify orders": "check the whole history of orders, month by month",
  "brandapi verify orders --evidence": "also print how to reproduce each number",
  "brandapi verify --repair": "check everything that was synced, and fix differences",
};

export function define(command: Command): void {
  const delta = new Option(
    "--delta <folder>",
    "compare the Delta tables in a folder with the mirror; sends no request",
  );
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--repair", "re-read differences, and rebuild inconsistent tables")
    .option("--evidence", "print each number with the request and the SQL that reproduce it")
    .addOption(delta.conflicts(["repair", "evidence", "acceptRemovals"]))
    .option("--accept-removals", "apply removals even if they look implausible")
    .addOption(waitOption());
}

export async function run(options: VerifyFlags, context: Context, names: readonly string[]): Promise<void> {
  if (options.delta !== undefined) return await verifyDeltaTables(names, options, context);
  const { deps } = context;
  if (options.acceptRemovals && !options.repair)
    throw new UsageError("`--accept-removals` is for `--repair`.", {
      hint: "add `--repair`, or leave it out",
    });
  const { resources: chosen, named } = chooseResources(names);
  const { acceptRemovals = false, evidence = false, json = false, repair = false } = options;
  await withMirrorRun({ deps, options, purpose: "prove", command: "verify" }, async (session) => {
    const access = { ...session, options: { ...defaultOptions, acceptRemovals } };
    const due = named ? chosen : chosen.filter(({ name }) => wasRead(session.mirror, name));
    if (due.length === 0)
      throw new Incomplete("Nothing to compare: nothing was ever synced into this mirror.", {
        hint: "run `brandapi sync`",
      });
    access.reporter.expect(due.map(({ name }) => ({ name, requests: undefined })));
    const wrong: FullVerdict[] = [];
    const ended = await forEachResource(access, { due, named }, async (resource) => {
      const { verdict: all, error } = await verifyResource(access, resource, repair);
      const { claims, ...verdict } = all;
      if (verdict.found.length > 0) wrong.push(verdict);
      const shown = evidence ? claims?.() : undefined;
      if (json) printJson(deps.stdout, { ...verdict, evidence: shown });
      else deps.stdout.write(`${verdictText(verdict)}${shown ? evidenceText(shown) : ""}`);
      if (error !== null) throw error;
    });
    throwIfFailed(ended, due.length);
    if (wrong.length === 0) return;
    const verify = `brandapi verify ${wrong.map(({ resource }) => resource).join(" ")}`;
    const isMendable = wrong.some(({ state, unread = 0 }) => state === "different" || unread > 0);
    const later = wrong.every(hasOddDates)
      ? "the API has to correct these dates; until then all records are kept, and this part cannot be verified"
      : `run \`${verify}\` again later`;
    throw new Incomplete(`Found: ${wrong.flatMap(({ found }) => found).join("; ")}.`, {
      hint: isMendable && !repair ? `run \`${verify} --repair\`` : later,
    });
  });
}

/** True if only dates that are unreadable or outside the requested ones keep a resource from being verified. */
function hasOddDates({ found, months }: FullVerdict): boolean {
  return found.length === 1 && months.at(-1)?.month === "dates";
}
