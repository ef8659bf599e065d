import { findForbidden } from "../../src/errors.js";
import { detailsResource } from "../../src/resources/resource.js";
import { compareTables } from "../../src/store/table-check.js";
import { checkChangeTimes } from "./change-checks.js";
import { type MirrorClaims, type MirrorRecord, readClaims } from "./claims.js";
import { checkEvidence } from "./evidence-checks.js";
import { isDated } from "./model.js";
import type { Version } from "./versions.js";
import type { RunResult, World } from "./world.js";

const dayMs = 86_400_000;

/**
 * Compares the mirror's claims after a run with the API's data, and returns a line for each false claim.
 *
 * One kind of false claim is allowed, as src/sync/README.md explains: when a list is read page by page, a sync can miss
 * a record if, between two responses, another record is removed and a new one is added.
 */
export function findFalseClaims(world: World, end: RunResult): string[] {
  const claims = readClaims(world);
  return [...checkCovered(world, claims), ...findFalseStatements(world, end, claims)];
}

/**
 * Checks the claims that users see: verified runs, removals and changes. The coverage of unverified runs is not
 * checked. If the API's dates are less precise than the API's filters, the coverage is too large until the next
 * response reveals the imprecise dates, and the run may be stopped before that response.
 */
export function findFalseStatements(world: World, end: RunResult, claims = readClaims(world)): string[] {
  return [
    ...(end.code === 1 ? [`unexpected error: ${errorText(end.error)}`] : []),
    ...checkInvented(claims),
    ...checkRemovals(world, end, claims),
    ...checkRemovalLimit(end, claims),
    ...checkChangeTimes(world, end),
    ...(end.verified ? checkVerified(world, end, claims) : []),
    ...checkProvenMonths(world, end, claims),
  ];
}

export function checkVerified(world: World, end: RunResult, claims = readClaims(world)): string[] {
  return [
    ...checkCovered(world, claims),
    ...checkStale(claims),
    ...checkUndated(world, end, claims),
    ...checkEvidence(world, end, claims),
    ...checkDetails(world, end, claims),
    ...(isUndisturbedList(world, end) ? findDifferences(world, claims) : []),
  ];
}

/** Returns integrity errors in the mirror file, and differences between tables and records. */
export async function findDamage(world: World): Promise<string[]> {
  const { resource } = world;
  const tables = await compareTables(world.mirror, [resource, detailsResource(resource) ?? []].flat());
  const integrity = world.mirror.db.pragma("integrity_check", { simple: true });
  return [
    ...tables.map((one) => `tables: ${JSON.stringify(one)}`),
    ...(integrity === "ok" ? [] : [`${integrity}`]),
  ];
}

function checkInvented({ records }: MirrorClaims): string[] {
  return [...records.values()].flatMap(({ key, version }) =>
    version ? [] : [`${key}: the API never returned this version`],
  );
}

/**
 * Checks that the mirror contains each record in the version that the API had when the range was read, or in a later
 * version.
 */
function checkCovered(world: World, { records, readAt }: MirrorClaims): string[] {
  const found: string[] = [];
  for (const [key, versions] of world.versionHistory.versions)
    for (const { from, json, second, until } of versions) {
      const read = readAt(second);
      if (json === null || read === undefined || read < from || read >= until) continue;
      const later = versions.filter((version) => version.until > read);
      // The mirror may lack a later removal or a later change of date until a sync re-reads the range.
      if (later.some((version) => version.json === null || !Object.is(version.second, second))) continue;
      const row = records.get(key);
      const isHeld =
        row?.removedAt === null && !row.isMissing && later.some((version) => version.json === row.json);
      if (!isHeld && countSwaps(world, read, second) === 0)
        found.push(
          `${key}: differs from the API at the time of the read (state in the mirror: ${describeState(row)})`,
        );
    }
  return found;
}

/** Checks that a verified mirror contains no version that was already outdated when its range was read. */
function checkStale({ present, readAt }: MirrorClaims): string[] {
  return present.flatMap(({ key, version }) => {
    const read = version ? readAt(version.second) : undefined;
    const isStale = version && read !== undefined && version.until <= read;
    return isStale ? [`${key}: verified, but this version was outdated when its range was read`] : [];
  });
}

/** Checks that a verified mirror with complete coverage includes the records without a date. */
function checkUndated(
  { versionHistory }: World,
  { endedAt, startedAt }: RunResult,
  claims: MirrorClaims,
): string[] {
  const isAll =
    claims.coveredRanges.length === 1 && claims.coveredRanges[0]?.from === Number.NEGATIVE_INFINITY;
  return (isAll ? versionHistory.at(startedAt) : []).flatMap(({ record, second, until }) => {
    const isLacking =
      Number.isNaN(second) && until > endedAt && claims.records.get(String(record.id))?.removedAt !== null;
    return isLacking
      ? [`${record.id}: verified, but this record, which has no date, is missing from the mirror`]
      : [];
  });
}

/** Checks that a run does not remove records that the API listed during the entire run. */
function checkRemovals(world: World, { endedAt, startedAt }: RunResult, { records }: MirrorClaims): string[] {
  return [...records.values()].flatMap(({ key, removedAt, version }) => {
    if (removedAt === null || removedAt < startedAt || removedAt > endedAt) return [];
    const during = world.versionHistory.versions
      .get(key)
      ?.filter(({ from, until }) => until > startedAt && from <= endedAt);
    const wasThere = during?.[0] && during[0].from <= startedAt && during.every(({ json }) => json !== null);
    // A record must be missing from two reads before it is removed.
    return wasThere && countSwaps(world, startedAt, version?.second ?? Number.NaN) < 2
      ? [`${key}: falsely removed`]
      : [];
  });
}

/**
 * Checks that a run without --accept-removals never removes all records, or more than half of a list of more
 * than 20 records.
 */
function checkRemovalLimit(
  { acceptsRemovals, presentBefore }: RunResult,
  { records, present }: MirrorClaims,
): string[] {
  const removed = [...presentBefore].filter((key) => records.get(key)?.removedAt !== null).length;
  const isTooMany = present.length === 0 || (presentBefore.size > 20 && removed > presentBefore.size / 2);
  if (acceptsRemovals || removed === 0 || !isTooMany) return [];
  return [`${removed} of ${presentBefore.size} removed without --accept-removals`];
}

/**
 * Counts the pairs of consecutive responses in a run between which one record was removed and another was added.
 * @param instant a time during the run
 * @param second the date of these records, truncated to the second; ignored if the list is read page by page
 */
export function countSwaps(world: World, instant: number, second: number): number {
  const run = world.runs.find(({ startedAt, endedAt }) => startedAt <= instant && instant <= endedAt);
  if (!run) return 0;
  const isList = world.isReadByPage || !isDated(world.listName);
  const isHere = ({ from, second: other }: Version) =>
    from > run.startedAt && from <= run.endedAt && (isList || other === second);
  const moves = [...world.versionHistory.versions.values()].flatMap((versions) =>
    versions.filter(
      (version, at) =>
        isHere(version) && (version.json === null) !== ((versions[at - 1]?.json ?? null) === null),
    ),
  );
  const left = moves.filter(({ json }) => json === null).map(({ responsesBefore }) => responsesBefore);
  const came = new Set(
    moves.filter(({ json }) => json !== null).map(({ responsesBefore }) => responsesBefore),
  );
  return new Set(left.filter((gap) => came.has(gap))).size;
}

/**
 * Returns the earliest possible time at which the mirror's details were read. A run keeps details that an interrupted
 * run read within the last hour.
 */
export function detailsReadSince({ runs }: World, end: RunResult): number {
  const finished = runs.findLastIndex((run) => run !== end && isFinishedSync(run));
  const resumed = runs.slice(finished + 1).find(({ startedAt }) => startedAt >= end.startedAt - 3_600_000);
  return resumed?.startedAt ?? end.startedAt;
}

/** Returns true for a sync that ran to completion. Exit code 8 is accepted unless the API denied access. */
function isFinishedSync({ code, error, job }: RunResult): boolean {
  return job === "sync" && (code === 0 || (code === 8 && findForbidden(error) === null));
}

/** Checks that campaign details are not older than the run that verified them. */
function checkDetails(world: World, end: RunResult, { present }: MirrorClaims): string[] {
  const { versionHistory, listName } = world;
  if (listName !== "opportunities" || end.job !== "sync") return [];
  const since = detailsReadSince(world, end);
  const detailsOf = ({ assignments, deliverables }: Record<string, unknown>) =>
    JSON.stringify([assignments, deliverables]);
  return present.flatMap(({ full, key }) => {
    const mine = detailsOf(JSON.parse(full) as Record<string, unknown>);
    const versions = versionHistory.versions.get(key)?.filter(({ until }) => until > since) ?? [];
    return versions.some(({ record }) => detailsOf(record) === mine)
      ? []
      : [`${key}: the details are older than the run that verified them`];
  });
}

/** Returns true if the run read a complete list that did not change while it was read. */
function isUndisturbedList({ versionHistory, listName }: World, { startedAt, endedAt }: RunResult): boolean {
  return !isDated(listName) && !versionHistory.changes.some((at) => at > startedAt && at <= endedAt);
}

export function findDifferences(world: World, { records, present } = readClaims(world)): string[] {
  const current = new Map(
    [...world.versionHistory.versions].flatMap(([key, versions]) => {
      const json = versions.at(-1)?.json ?? null;
      return json === null ? [] : [[key, json] as const];
    }),
  );
  return [
    ...[...current]
      .filter(([key, json]) => records.get(key)?.removedAt !== null || records.get(key)?.json !== json)
      .map(
        ([key]) => `${key}: differs from the API (state in the mirror: ${describeState(records.get(key))})`,
      ),
    ...present.filter(({ key }) => !current.has(key)).map(({ key }) => `${key}: not returned by the API`),
  ];
}

/**
 * Checks that `verify` does not report a month as proven if the mirror lacks a record from an unread day of that month.
 */
function checkProvenMonths(
  { versionHistory }: World,
  { endedAt, startedAt, verdict }: RunResult,
  { records, readTimes }: MirrorClaims,
): string[] {
  const months = verdict?.parts.filter(({ state }) => state === "proven").map(({ part }) => part) ?? [];
  return versionHistory.at(startedAt).flatMap(({ record, second, until }) => {
    if (Number.isNaN(second) || until <= endedAt || records.get(String(record.id))?.removedAt === null)
      return [];
    const start = Math.floor(second / dayMs) * dayMs;
    const month = new Date(second).toISOString().slice(0, 7);
    const isUnread =
      readTimes({ from: start, to: start + dayMs - 1 }) === null &&
      readTimes({ from: second, to: second }) === null;
    return isUnread && months.includes(month)
      ? [`${record.id}: ${month} is proven, but the record's day was never read`]
      : [];
  });
}

function describeState(row: MirrorRecord | undefined): string {
  if (!row) return "absent";
  return row.removedAt !== null ? "removed" : row.isMissing ? "missing" : "present";
}

export function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
