import { type Command, Option } from "commander";
import { addBrandFlags } from "../cli/brand-flags.js";
import { type ChosenResources, chooseResources, waitOption } from "../cli/flags.js";
import { type MirrorSession, withMirrorSession } from "../cli/mirror-session.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { ApiUnavailable, Forbidden, findForbidden, Incomplete, UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import type { Resource, Strategy } from "../resources/resource.js";
import { hasBeenRead } from "../store/runs.js";
import { describeFuture } from "../sync/counts.js";
import { createAccessDeniedError, createFailuresError, forEachResource } from "../sync/each-resource.js";
import { defaultOptions } from "../sync/session.js";
import { formatCount, pluralize, quoteShellWord } from "../util/format-text.js";
import { escapeText, printJson, terminalWidth, wrapIndented } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { formatMinute } from "../util/timestamps.js";
import type { Evidence } from "../verify/evidence.js";
import {
  needsApi,
  type PartResult,
  type PrintedResult,
  printedPartKind,
  type VerificationResult,
} from "../verify/verification-result.js";
import { verifyResource } from "../verify/verify-resource.js";

interface VerifyFlags extends GlobalFlags {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  delta?: string;
  full?: boolean;
}

export const about =
  "Checks orders and content against the API's counts and daily totals, which takes only a few requests for the entire history. " +
  "Reads all other resources in full. Also compares the tables with the records they are built from. Lists the changes that it cannot detect.";

export const examples = {
  "brandapi verify orders": "check the whole order history, month by month",
  "brandapi verify orders --evidence": "also print how to reproduce each number",
  "brandapi verify --repair": "check everything that has been synced, and repair differences",
};

export function define(command: Command): void {
  const delta = new Option(
    "--delta <folder>",
    "compare the Delta tables in a folder with the mirror, without sending any requests",
  );
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--repair", "re-read data that differs, and rebuild inconsistent tables")
    .option("--evidence", "print each number with the request and the SQL query that reproduce it")
    .addOption(delta.conflicts(["repair", "evidence", "acceptRemovals"] satisfies (keyof VerifyFlags)[]))
    .option("--full", "with --delta, also compare all rows, to find damaged files")
    .option("--accept-removals", "apply removals even if they look implausible")
    .addOption(waitOption());
}

export async function run(flags: VerifyFlags, context: Context, names: readonly string[]): Promise<void> {
  if (flags.delta !== undefined || flags.full) {
    const { verifyDeltaTables } = await import("../delta/delta-commands.js");
    return await verifyDeltaTables(flags, context, names);
  }
  const { deps } = context;
  if (flags.acceptRemovals && !flags.repair)
    throw new UsageError("`--accept-removals` needs `--repair`.", {
      hint: "add `--repair`, or omit `--accept-removals`",
    });
  const chosen = chooseResources(names);
  const settings = readSettings(flags, deps);
  const options = { ...defaultOptions, acceptRemovals: flags.acceptRemovals ?? false };
  const command = { name: "verify", deps, flags, settings, options, needsMirror: true, checksFile: true };
  await withMirrorSession(command, async (session) => {
    await verifyResources(session, chosen, flags, deps);
  });
}

/**
 * Verifies the named resources or, without names, those that have been read before. Prints each result.
 * @throws Incomplete if there are differences; errors from the API
 */
async function verifyResources(
  session: MirrorSession,
  { resources: chosen, areNamed }: ChosenResources,
  flags: VerifyFlags,
  deps: Deps,
): Promise<void> {
  const { evidence = false, json = false, repair = false } = flags;
  const { mirror, reporter, settings } = session;
  const due = areNamed ? chosen : chosen.filter((resource) => hasBeenRead(mirror, resource));
  if (due.length === 0)
    throw new Incomplete("There is nothing to verify: this mirror has never been synced.", {
      hint: "run `brandapi sync`",
    });
  reporter.expect(due.map(({ name }) => ({ name, requests: undefined })));
  if (evidence && !json) deps.stdout.write(formatVariables(settings.baseUrl ?? ""));
  const verified: { resource: Resource; result: VerificationResult }[] = [];
  const results = await forEachResource(due, async (resource) => {
    const { result, error } = await verifyResource(session, resource, { repair });
    verified.push({ resource, result });
    // Report an outage only once, with the error at the end.
    if (json || !(error instanceof ApiUnavailable) || result.problems.length > 0)
      printVerification(result, flags, deps);
    // If the user named no resources, only those that have been read before are verified. Denied access then means that
    // access was lost, so report it as an incomplete verification.
    const wasReadBefore = !areNamed && error instanceof Forbidden;
    return { error: wasReadBefore ? createAccessDeniedError(resource, error) : error };
  });
  const withBlindSpot = verified.flatMap(({ resource, result }) => (result.blind_spot ? resource : []));
  if (!json && withBlindSpot.length > 0)
    deps.stdout.write(`${wrapIndented(describeBlindSpot(withBlindSpot), terminalWidth(deps.stdout), 2)}\n`);
  const failed = results.failures.flatMap(({ error, resource }) => (findForbidden(error) ? [] : resource));
  const names = [...failed, ...results.notTried].map(({ name }) => name).join(" ");
  const again = `run \`brandapi verify ${names}${repair ? " --repair" : ""}\` again later`;
  const failure = createFailuresError(results, due.length, again);
  const withProblems = verified.flatMap(({ result }) => (result.problems.length > 0 ? result : []));
  const found = withProblems.length > 0 ? createProblemsError(withProblems, repair) : null;
  if (!failure && !found) return;
  if (!failure || !found) throw failure ?? found;
  if (failure instanceof Incomplete) throw combineErrors(found, failure);
  // No resource could be compared with the API, so only tables can differ, and the exit code is that of the failure.
  reporter.warn(`${found.message} ${found.hint}`);
  throw failure;
}

function printVerification(result: VerificationResult, flags: VerifyFlags, deps: Deps): void {
  const { stdout } = deps;
  const { json, evidence } = flags;
  const { parts, problems, collectEvidence, resource, state, ...printed } = result;
  const numbers = evidence ? collectEvidence?.() : undefined;
  const found = problems.map(({ text }) => text);
  if (json) {
    const months = parts.map(({ kind, part, ...rest }) => ({
      kind: printedPartKind(kind),
      month: part,
      ...rest,
    }));
    printJson(stdout, {
      resource,
      state,
      months,
      ...printed,
      found,
      evidence: numbers,
    } satisfies PrintedResult);
  } else stdout.write(formatResult(result, flags, deps) + (numbers ? formatEvidence(numbers) : ""));
}

function createProblemsError(results: readonly VerificationResult[], wasRepaired: boolean): Incomplete {
  const command = `brandapi verify ${results.map(({ resource }) => resource).join(" ")}`;
  const isRepairable = results.some(({ state, unread = 0 }) => state === "different" || unread > 0);
  let hint = `run \`${command}\` again later`;
  if (results.every(({ problems }) => needsApi(problems)))
    hint =
      "the data must be corrected in the API; until then, the mirror keeps these records, but their dates are not verified";
  if (isRepairable && !wasRepaired) hint = `run \`${command} --repair\``;
  return new Incomplete(
    `Found: ${results.flatMap(({ problems }) => problems.map(({ text }) => text)).join("; ")}.`,
    { hint },
  );
}

function combineErrors(found: Incomplete, failure: Incomplete): Incomplete {
  const hint = [found.hint ?? [], failure.hint ?? []].flat().join("; ");
  return new Incomplete(`${found.message} ${failure.message}`, { hint, cause: failure });
}

/** Formats a result. Adjacent months with the same state and reason share a line. */
function formatResult(result: VerificationResult, flags: GlobalFlags, { env, stdout }: Deps): string {
  const { api_total: apiTotal, mirror_total: mirrorTotal, repaired, parts, resource, tables } = result;
  const isCounted = apiTotal !== null && mirrorTotal !== null;
  const totals = isCounted
    ? `, ${formatCount(apiTotal)} in the API and ${formatCount(mirrorTotal)} in the mirror`
    : "";
  const lines = [`${resource}: ${result.state}${totals} (${pluralize(result.requests, "request")})`];
  if (repaired) {
    const { logged_changes, rows_changed, rows_new, rows_removed, run_id } = repaired;
    const rows = `${formatCount(rows_new)} new, ${formatCount(rows_changed)} changed, ${formatCount(rows_removed)} removed`;
    const command = logged_changes > 0 ? `: \`brandapi changes ${resource} --run ${run_id}\`` : "";
    lines.push(`  repaired: ${rows}${command}`);
  }
  for (const { first, part, state, why, read_at } of groupParts(parts)) {
    const span = first === part ? first : `${first} to ${part}`;
    const read = read_at ? `; read since ${formatMinute(read_at)}` : "";
    lines.push(`  ${span}: ${state}: ${escapeText(why)}${read}`);
  }
  if (result.future) lines.push(`  not due yet: ${describeFuture(result.future)}`);
  for (const { table, why } of tables.differences) lines.push(`  table ${table}: ${tables.state}: ${why}`);
  const completeLines = lines.map((line) => addBrandFlags(line, flags, env));
  return `${completeLines.map((line) => wrapIndented(line, terminalWidth(stdout), 4)).join("\n")}\n`;
}

function describeBlindSpot(verified: readonly Resource[]): string {
  const namesOf = (kind: Strategy["kind"]) =>
    verified.flatMap(({ name, strategy }) => (strategy.kind === kind ? name : [])).join(" or ");
  const changes = [
    namesOf("dated") && `a change to ${namesOf("dated")} that affects none of these numbers`,
    namesOf("details") && `a change to the details of ${namesOf("details")}`,
  ];
  return `\`verify\` cannot detect ${changes.filter(Boolean).join(", or ")}; syncs re-read this data over time.`;
}

function formatVariables(baseUrl: string): string {
  return [
    "The commands below need curl, jq and sqlite3, and these variables:",
    `    export BRANDAPI_BASE_URL=${quoteShellWord(baseUrl)}`,
    "    read -rs BRANDAPI_KEY; export BRANDAPI_KEY    # then paste the key and press Enter",
    "",
  ].join("\n");
}

/**
 * Formats the evidence as a table. Each row is followed by the request and the SQL query that reproduce its numbers.
 */
function formatEvidence(evidence: readonly Evidence[]): string {
  const titles = ["check", "from", "to", "API", "mirror", "", "asked at", "note"];
  const minute = (at: string | null) => at && formatMinute(at);
  const rows = evidence.map(({ agrees, api, asked_at, check, from, mirror, note, to }) => {
    let state = agrees ? "agrees" : "differs";
    if (agrees === null) state = "unproven";
    const counts = [api, mirror].map((count) => count && formatCount(count));
    return [check, minute(from), minute(to), ...counts, state, minute(asked_at), note];
  });
  const [header, ...lines] = renderTable(titles, rows, { rightAligned: ["API", "mirror"] }).split("\n");
  const commandLine = (line: string | null) => (line ? `    ${line}\n` : "");
  const rest = evidence.map(
    ({ request, sql }, index) => `  ${lines[index]}\n${commandLine(request)}${commandLine(sql)}`,
  );
  return `  ${header}\n${rest.join("")}`;
}

/** A series of adjacent months with the same state and reason. `first` is its oldest month, and `part` its newest. */
type MonthSpan = PartResult & { first: string };

/** Merges adjacent months that have the same state and reason. The oldest `read_at` is kept. */
function groupParts(parts: readonly PartResult[]): MonthSpan[] {
  const spans: MonthSpan[] = [];
  for (const result of parts) {
    const last = spans.at(-1);
    if (last?.state !== result.state || last.why !== result.why)
      spans.push({ ...result, first: result.part });
    else {
      last.part = result.part;
      last.read_at = [last.read_at, result.read_at].filter((at) => at !== null).sort()[0] ?? null;
    }
  }
  return spans;
}
