import type { Command } from "commander";
import { runForProfiles } from "../cli/all-profiles.js";
import { warnBeforeExpiry } from "../cli/api-session.js";
import { addBrandFlags } from "../cli/brand-flags.js";
import { allProfilesOption, type ChosenResources, chooseResources, parsedOption } from "../cli/flags.js";
import { withReadSession } from "../cli/read-session.js";
import { parseDuration } from "../cli/time-flags.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import { readProfiles } from "../config/stored-profiles.js";
import type { Context } from "../deps.js";
import { type ExitCode, MirrorStale } from "../errors.js";
import { type Health, isTooOld, loadHealth, type ResourceHealth } from "../query/health.js";
import { resources } from "../resources/registry.js";
import { findLastBackup } from "../store/backups.js";
import type { Mirror } from "../store/database.js";
import type { AccessDenial, FailedCommand } from "../store/known-problems.js";
import { describeRunningCommand, findRunningCommand } from "../store/mirror-lock.js";
import { loadRedactionRules } from "../store/redaction-rules.js";
import { describeUnexpectedColumn } from "../store/schema-issues.js";
import { pathExists } from "../util/files.js";
import { formatCount, pluralize } from "../util/format-text.js";
import { escapeText, printJson, type Style, wrapLines } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { dayMs, formatDuration, formatMinute, formatStart } from "../util/timestamps.js";

type StatusFlags = GlobalFlags & { maxAge?: number; allProfiles?: boolean };

export const about =
  "Shows each resource's rows, covered range, last success and last error. Requires no key or network access. " +
  "With --max-age, also exits with code 10 if successful syncs have left a gap in the dates that were read, if the API rejected the key in the last sync, or if the key or the plan no longer allows access to a resource. " +
  "To check only some resources, name them.";

export const examples = {
  "brandapi status": "show the state of every resource",
  "brandapi status orders roster --max-age 26h --quiet":
    "exit with code 10 if a nightly run was missed, for monitoring",
  "brandapi status --json | jq '.resources[] | {resource, age_seconds}'":
    "print how long ago each resource was synced, for scripts",
};

export function define(command: Command): void {
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .addOption(
      parsedOption(
        "--max-age <duration>",
        "exit with code 10 if the last successful sync is older than this",
        parseDuration,
      ),
    )
    .addOption(allProfilesOption());
}

export async function run(flags: StatusFlags, context: Context, names: readonly string[]): Promise<ExitCode> {
  const chosen = chooseResources(names);
  return await runForProfiles(flags, context, (profileFlags, profileContext) =>
    printStatus(chosen, profileFlags, profileContext),
  );
}

async function printStatus(
  { resources: chosen, areNamed }: ChosenResources,
  flags: StatusFlags,
  { deps, profile }: Context,
): Promise<void> {
  const { json, maxAge = null, quiet } = flags;
  const settings = readSettings(flags, deps);
  const keyExpiresAt = readProfiles(deps).get(settings.profile)?.keyExpiresAt ?? null;
  const never = `This mirror has never been synced: ${settings.dbPath}`;
  const checkPath = flags.db === undefined ? "" : "check the path, or ";
  const neverSynced = new MirrorStale(never, { hint: `${checkPath}run \`brandapi sync\`` });
  if (maxAge !== null && !pathExists(settings.dbPath)) throw neverSynced;
  await withReadSession(flags, deps, async ({ mirror, reporter: { warn }, style, width }) => {
    const now = deps.clock.now();
    const runningCommand = await findRunningCommand(settings.dbPath);
    const health = loadHealth(mirror, chosen, { now, maxAgeMs: maxAge, runningCommand });
    const { fields, text } = loadFooter(mirror, settings.omit, now);
    if (json) printJson(deps.stdout, { profile, ...toPrintedHealth(health), ...fields });
    else if (!quiet) {
      const output = formatStatus(health, areNamed, style, width) + text;
      deps.stdout.write(wrapLines(addBrandFlags(output, flags, deps.env), width));
    }
    warnBeforeExpiry(keyExpiresAt, { ...settings, keySource: "profile" }, now, warn);
    if (maxAge === null) return;
    const stale = createStaleError(health, areNamed, maxAge, neverSynced);
    if (stale === null) return;
    // With `--quiet`, no table is printed, so the problems are printed as warnings, except those that the error lists.
    if (quiet) for (const problem of describeProblems(withoutRejections(health, areNamed))) warn(problem);
    throw stale;
  });
}

/** Returns the health as printed by `--json`, where some fields have other names. */
function toPrintedHealth({ failed_command, resources, running_command, ...health }: Health) {
  return {
    ...health,
    under_way: running_command,
    failed_run: failed_command,
    resources: resources.map(({ access_denial, verify_problem, ...resource }) => ({
      ...resource,
      found: verify_problem,
      refused: access_denial,
    })),
  };
}

/** Creates the error for `--max-age`, with all reasons, most severe first. Returns null if nothing is stale. */
function createStaleError(
  health: Health,
  areNamed: boolean,
  maxAgeMs: number,
  neverSynced: MirrorStale,
): MirrorStale | null {
  const { checked_at, denied, failed_command, never_read, resources } = health;
  const rejections = listRejections(health, areNamed);
  const stale = resources.filter((one) => one.stale && !one.access_denial && !failed_command?.isRefused);
  const isOld = ({ last_success_at: at }: ResourceHealth) => isTooOld(at, Date.parse(checked_at), maxAgeMs);
  const old = stale.filter(isOld).map(({ resource }) => resource);
  const withGaps = stale.filter((one) => !isOld(one)).map(({ resource }) => resource);
  const missing = areNamed ? never_read : [];
  const deniedNames = denied.map(({ resource }) => resource);
  const allowed = missing.filter((name) => !deniedNames.includes(name));
  const toSync = [...stale.map(({ resource }) => resource), ...allowed];
  if (rejections.length === 0 && toSync.length === 0) return resources.length === 0 ? neverSynced : null;
  const reasons = rejections.map(({ reason }) => reason);
  if (old.length > 0) reasons.push(`Older than ${formatDuration(maxAgeMs)}: ${old.join(", ")}.`);
  if (withGaps.length > 0) reasons.push(`Not all dates have been read: ${withGaps.join(", ")}.`);
  if (missing.length > 0) reasons.push(`Never synced: ${missing.join(", ")}.`);
  const hints = rejections.flatMap(({ hint }) => hint ?? []);
  if (toSync.length > 0) hints.push(`run \`brandapi sync ${toSync.join(" ")}\``);
  return new MirrorStale(reasons.join(" "), { hint: [...new Set(hints)].join("; ") });
}

/**
 * Returns the reason and the hint for a rejected key, and for each error that reports denied access. If a resource has
 * never been read, its error is returned only if the user named the resource, or if nothing has been read.
 */
function listRejections(health: Health, areNamed: boolean): { reason: string; hint: string | null }[] {
  const { denied, failed_command: failed, resources } = health;
  const rejectedKey = failed?.isRefused
    ? [{ reason: `The ${formatFailedCommand(failed)}`, hint: failed.hint }]
    : [];
  const lost = resources.flatMap(({ resource, access_denial }) =>
    access_denial ? { resource, ...access_denial } : [],
  );
  const denials = listsNeverRead(health, areNamed) ? [...lost, ...denied] : lost;
  const firstOfEach = denials.filter(
    ({ error }, index) => denials.findIndex((other) => other.error === error) === index,
  );
  const deniedAccess = firstOfEach.map(({ at, error, hint }) => {
    const names = denials.flatMap((one) => (one.error === error ? one.resource : []));
    return { reason: `Refused on ${formatMinute(at)}: ${names.join(", ")}: ${escapeText(error)}`, hint };
  });
  return [...rejectedKey, ...deniedAccess];
}

function listsNeverRead({ resources }: Health, areNamed: boolean): boolean {
  return areNamed || resources.length === 0;
}

/** Returns the mirror's health without the problems that `listRejections` returns. */
function withoutRejections(health: Health, areNamed: boolean): Health {
  const { denied, failed_command, resources } = health;
  return {
    ...health,
    denied: listsNeverRead(health, areNamed) ? [] : denied,
    failed_command: failed_command?.isRefused ? null : failed_command,
    resources: resources.filter(({ access_denial }) => !access_denial),
  };
}

function formatFailedCommand({ at, command, error }: FailedCommand): string {
  return `last ${command}, ${formatMinute(at)}, failed: ${escapeText(error)}`;
}

/**
 * Formats a mirror's health: one line per resource, followed by the problems.
 * @param areNamed true if the user named the resources
 */
function formatStatus(health: Health, areNamed: boolean, style: Style, width: number | undefined): string {
  const { brand, db, max_age_seconds, never_read, resources } = health;
  const title = `${style.bold("Mirror")} of ${escapeText(brand ? `${brand.name}, ${db}` : db)}`;
  const list = [
    resources.length > 0
      ? formatResourceTable(health, style, width)
      : areNamed
        ? ""
        : "Nothing has been synced yet.",
    never_read.length > 0 ? `Never read: ${never_read.join(", ")}` : "",
    never_read.length > 0 && max_age_seconds !== null && !areNamed
      ? "`--max-age` checks these resources only if you pass their names."
      : "",
  ];
  const problems = describeProblems(health).map((line) => `${style.yellow("!")} ${line}`);
  const blocks = [
    title,
    list.filter(Boolean).join("\n"),
    problems.join("\n"),
    [...unreadStartLines(health), ...oldestDataLines(health)].join("\n"),
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function describeProblems({
  checked_at,
  denied,
  failed_command,
  resources,
  running_command,
}: Health): string[] {
  const problems = [
    ...resources.flatMap((one) => resourceProblems(one).map((problem) => `${one.resource}: ${problem}`)),
    ...denied.map((denial) => `${denial.resource}: ${formatDenial(denial)}`),
  ];
  if (failed_command) problems.unshift(`the ${formatFailedCommand(failed_command)}`);
  if (running_command)
    problems.unshift(
      `a run is in progress ${describeRunningCommand(running_command, Date.parse(checked_at))}`,
    );
  return problems;
}

function resourceProblems(health: ResourceHealth): string[] {
  const {
    access_denial: denial,
    gaps,
    last_run: last,
    resource,
    running,
    undated,
    verify_problem: problem,
  } = health;
  const { unexpected_columns: columns } = health;
  const gapHint = running ? "" : `; run \`brandapi sync ${resource}\``;
  const problems = gaps.map(
    ({ from, to }) => `not read: ${from ? formatMinute(from) : "the start"} to ${formatMinute(to)}${gapHint}`,
  );
  if (undated > 0) problems.push(`${pluralize(undated, "record")} without a readable date`);
  // If the last sync was incomplete, add nothing here, because its error (below) already describes what is missing.
  if (problem && (denial || last?.outcome !== "incomplete"))
    problems.push(
      problem.repairable
        ? `${escapeText(problem.error)}; run \`brandapi verify ${resource} --repair\``
        : `${escapeText(problem.error)}; the data must be corrected in the API`,
    );
  if (columns.length > 0)
    problems.push(`unexpected types: ${escapeText(columns.map(describeUnexpectedColumn).join(", "))}`);
  if (denial) problems.push(formatDenial(denial));
  // If access was denied in the last run, that run's error is already in the list, so do not add it again.
  if (denial && denial.at === last?.finished_at) return problems;
  if (last?.outcome === "stopped") problems.push("the last run was stopped");
  else if (last?.error && last.outcome !== "compared") {
    const ended = last.outcome === "failed" ? "failed" : `was ${last.outcome}`;
    problems.push(`the last run ${ended}: ${escapeText(last.error)}`);
  }
  return problems;
}

function formatDenial({ at, error }: AccessDenial): string {
  return `refused on ${formatMinute(at)}: ${escapeText(error)}`;
}

function formatResourceTable(
  { resources, checked_at }: Health,
  style: Style,
  width: number | undefined,
): string {
  const hasRemoved = resources.some(({ removed }) => removed > 0);
  const rows = resources.map((one) => {
    const { last_done_at: doneAt, last_success_at: at, resource, rows, stale } = one;
    const partial = doneAt === null ? "never" : `${formatMinute(doneAt)} (partial)`;
    const numbers = [rows, hasRemoved ? one.removed : []].flat().map(formatCount);
    const age = at && formatAge(Date.parse(checked_at) - Date.parse(at)) + (stale ? " !" : "");
    return [resource, ...numbers, formatCoverage(one, checked_at), at ? formatMinute(at) : partial, age];
  });
  const counts = hasRemoved ? ["rows", "removed"] : ["rows"];
  const spare = ["last success", "removed", "read completely"];
  const titles = ["resource", ...counts, "read completely", "last success", "age"];
  return renderTable(titles, rows, { width, style, rightAligned: counts, optionalColumns: spare });
}

function formatCoverage({ covered, gaps, last_success_at }: ResourceHealth, checkedAt: string): string {
  const day = (at: string) => at.slice(0, 10);
  const [first, last] = [covered[0], covered.at(-1)];
  if (!first || !last) return last_success_at === null ? "not yet" : "all";
  const until = day(last.to) === day(checkedAt) ? "" : ` to ${day(last.to)}`;
  const gapCount = gaps.length === 0 ? "" : `, ${pluralize(gaps.length, "gap")}`;
  return `from ${first.from === null ? "the start" : formatStart(first.from)}${until}${gapCount}`;
}

/** Returns a line for each resource whose oldest records have never been read, because no sync requested them. */
function unreadStartLines({ resources }: Health): string[] {
  return resources.flatMap(({ last_success_at, requested_from: from, resource }) => {
    if (from === null || last_success_at === null) return [];
    return [
      `${resource}: records before ${formatStart(from)} have never been requested; run \`brandapi sync ${resource} --full\``,
    ];
  });
}

/**
 * Returns a line for each resource with rows that were last read two or more days ago, because the mirror may have
 * missed changes to those rows.
 */
function oldestDataLines({ resources, checked_at }: Health): string[] {
  return resources.flatMap(({ resource, oldest_read_at: at }) => {
    const ageMs = at === null ? 0 : Date.parse(checked_at) - Date.parse(at);
    if (ageMs < 2 * dayMs) return [];
    const age = pluralize(Math.floor(ageMs / dayMs), "day");
    return [`${resource}: some rows were last read ${age} ago; every sync re-reads part of the oldest data`];
  });
}

function loadFooter(mirror: Mirror, omit: readonly string[], now: number) {
  const last_backup = findLastBackup(mirror);
  const { forgotten, omit: stored } = loadRedactionRules(mirror);
  const when = String(omit) === String(stored) ? "" : " (from the next sync on)";
  const { at = "", path = "" } = last_backup ?? {};
  const text = [
    last_backup && `Last backup: ${formatMinute(at)}, ${formatAge(now - Date.parse(at))} ago, ${path}`,
    omit.length > 0 && `Omitted: ${omit.join(", ")}${when}`,
    forgotten.length > 0 && `Forgotten: ${pluralize(forgotten.length, "host")}`,
  ].map((line) => (line ? `\n${escapeText(line)}\n` : ""));
  return { text: text.join(""), fields: { last_backup, omit, forgotten } };
}

/** Formats an age. A wrong clock can cause a negative age, which is formatted as `5m ahead`. */
function formatAge(ms: number): string {
  return ms < 0 ? `${formatDuration(-ms)} ahead` : formatDuration(ms);
}
