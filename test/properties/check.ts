import { detailsResource } from "../../src/resources/resource.js";
import { compareTables } from "../../src/store/table-check.js";
import { isDated } from "./brand.js";
import { falseIntervals } from "./changes.js";
import { type Claims, claimsOf, type Held } from "./claims.js";
import { unseenEvidence } from "./evidence.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

const dayMs = 86_400_000;

/**
 * Compares what the mirror claims after a run with what the API had. @returns a line for each false claim
 *
 * One thing is allowed, as the page on syncing says: of a list that is read by page numbers, one record leaves and
 * another comes between the same two answers, and a third slips past the reader.
 */
export function falseClaims(world: World, end: RunEnd): string[] {
  const claims = claimsOf(world);
  return [...notAsRead(world, claims), ...falseStatements(world, end, claims)];
}

/**
 * The same of what a person is shown: verified, removals, changes. An API whose dates are coarser than those that it filters
 * by is noticed one response later, so a run that is stopped in between covers too much until the next one compares counts.
 */
export function falseStatements(world: World, end: RunEnd, claims = claimsOf(world)): string[] {
  return [
    ...(end.code === 1 ? [`it broke: ${textOf(end.error)}`] : []),
    ...inventedRecords(claims),
    ...falselyRemoved(world, end, claims),
    ...tooManyRemoved(end, claims),
    ...falseIntervals(world, end),
    ...(end.verified ? falselyVerified(world, end, claims) : []),
    ...falselyProven(world, end, claims),
  ];
}

/** What is false about a mirror that is called verified. */
export function falselyVerified(world: World, end: RunEnd, claims = claimsOf(world)): string[] {
  return [
    ...notAsRead(world, claims),
    ...staleRecords(claims),
    ...besideTheDates(world, end, claims),
    ...unseenEvidence(world, end, claims),
    ...oldDetails(world, end, claims),
    ...(isWholeAndQuiet(world, end) ? differences(world, claims) : []),
  ];
}

/** The tables match the records, and the file is sound. Checked at the end of a history and after a kill. */
export function damage(world: World): string[] {
  const { resource } = world;
  const tables = compareTables(world.mirror(), [resource, detailsResource(resource) ?? []].flat());
  const integrity = world.mirror().db.pragma("integrity_check", { simple: true });
  return [
    ...tables.map((one) => `tables: ${JSON.stringify(one)}`),
    ...(integrity === "ok" ? [] : [`${integrity}`]),
  ];
}

function inventedRecords({ held }: Claims): string[] {
  return [...held.values()].flatMap(({ key, version }) =>
    version ? [] : [`${key}: the API never said this`],
  );
}

/** A place that was read holds every record that the API listed there then, as it was then or later. */
function notAsRead(world: World, { held, readAt }: Claims): string[] {
  const found: string[] = [];
  for (const [key, versions] of world.truth.versions)
    for (const { from, json, second, until } of versions) {
      const read = readAt(second);
      if (json === null || read === undefined || read < from || read >= until) continue;
      const later = versions.filter((version) => version.until > read);
      // It has left since: the next reading of its place shows that.
      if (later.some((version) => version.json === null || !Object.is(version.second, second))) continue;
      const row = held.get(key);
      const isHeld =
        row?.removedAt === null && !row.isMissing && later.some((version) => version.json === row.json);
      if (!isHeld && swapsAt(world, read, second) === 0)
        found.push(`${key}: ${nameOf(row)}, and was otherwise when its place was read`);
    }
  return found;
}

/** A verified mirror holds nothing that had gone, or was different, when its place was read. */
function staleRecords({ present, readAt }: Claims): string[] {
  return present.flatMap(({ key, version }) => {
    const read = version ? readAt(version.second) : undefined;
    const isStale = version && read !== undefined && version.until <= read;
    return isStale ? [`${key}: no longer so when its place was read, and still in a verified mirror`] : [];
  });
}

/** A mirror that claims all dates and is verified lacks no record for want of a date. */
function besideTheDates({ truth }: World, { endedAt, startedAt }: RunEnd, claims: Claims): string[] {
  const isAll = claims.stretches.length === 1 && claims.stretches[0]?.from === Number.NEGATIVE_INFINITY;
  return (isAll ? truth.at(startedAt) : []).flatMap(({ record, second, until }) => {
    const isLacking =
      Number.isNaN(second) && until > endedAt && claims.held.get(String(record.id))?.removedAt !== null;
    return isLacking ? [`${record.id}: without a date, and not in a verified mirror`] : [];
  });
}

/** A run removes nothing that the API has listed from its beginning to its end. */
function falselyRemoved(world: World, { endedAt, startedAt }: RunEnd, { held }: Claims): string[] {
  return [...held.values()].flatMap(({ key, removedAt, version }) => {
    if (removedAt === null || removedAt < startedAt || removedAt > endedAt) return [];
    const during = world.truth.versions
      .get(key)
      ?.filter(({ from, until }) => until > startedAt && from <= endedAt);
    const wasThere = during?.[0] && during[0].from <= startedAt && during.every(({ json }) => json !== null);
    // Who is missing is looked for in a second reading.
    return wasThere && swapsAt(world, startedAt, version?.second ?? Number.NaN) < 2
      ? [`${key}: falsely removed`]
      : [];
  });
}

/** Unless somebody accepts it, no run removes all that there is, nor over half of more than 20. */
function tooManyRemoved({ acceptsRemovals, before }: RunEnd, { held, present }: Claims): string[] {
  const removed = [...before].filter((key) => held.get(key)?.removedAt !== null).length;
  const isTooMany = present.length === 0 || (before.size > 20 && removed > before.size / 2);
  if (acceptsRemovals || removed === 0 || !isTooMany) return [];
  return [`${removed} of ${before.size} removed, and nobody accepted it`];
}

/** Returns how often, in the run of an instant, records left and came between the same two answers of one list. */
export function swapsAt(world: World, instant: number, second: number): number {
  const run = world.runs.find(({ startedAt, endedAt }) => startedAt <= instant && instant <= endedAt);
  if (!run) return 0;
  const isList = world.isReadByPage || !isDated(world.watched);
  const isHere = ({ from, second: other }: Version) =>
    from > run.startedAt && from <= run.endedAt && (isList || other === second);
  const moves = [...world.truth.versions.values()].flatMap((versions) =>
    versions.filter(
      (version, at) =>
        isHere(version) && (version.json === null) !== ((versions[at - 1]?.json ?? null) === null),
    ),
  );
  const left = moves.filter(({ json }) => json === null).map(({ answered }) => answered);
  const came = new Set(moves.filter(({ json }) => json !== null).map(({ answered }) => answered));
  return new Set(left.filter((gap) => came.has(gap))).size;
}

/** Returns when the reading of details began that a run stands for: it goes on with one that was stopped within the hour. */
export function resumedSince({ runs }: World, end: RunEnd): number {
  const finished = runs.findLastIndex(
    (run) => run !== end && run.job === "sync" && (run.code === 0 || run.code === 8),
  );
  const resumed = runs.slice(finished + 1).find(({ startedAt }) => startedAt >= end.startedAt - 3_600_000);
  return resumed?.startedAt ?? end.startedAt;
}

/** A verified campaign has details of a time after the run began. */
function oldDetails(world: World, end: RunEnd, { present }: Claims): string[] {
  const { truth, watched } = world;
  if (watched !== "opportunities" || end.job !== "sync") return [];
  const since = resumedSince(world, end);
  const detailsOf = ({ assignments, deliverables }: Record<string, unknown>) =>
    JSON.stringify([assignments, deliverables]);
  return present.flatMap(({ full, key }) => {
    const mine = detailsOf(JSON.parse(full) as Record<string, unknown>);
    const versions = truth.versions.get(key)?.filter(({ until }) => until > since) ?? [];
    return versions.some(({ record }) => detailsOf(record) === mine)
      ? []
      : [`${key}: details of before the run, and verified`];
  });
}

/** True if a list was read from its beginning to its end in this run, and nothing happened meanwhile. */
function isWholeAndQuiet({ truth, watched }: World, { startedAt, endedAt }: RunEnd): boolean {
  return !isDated(watched) && !truth.changes.some((at) => at > startedAt && at <= endedAt);
}

/** Returns how the mirror's present records differ from the API's. */
export function differences(world: World, { held, present } = claimsOf(world)): string[] {
  const current = new Map(
    [...world.truth.versions].flatMap(([key, versions]) => {
      const json = versions.at(-1)?.json ?? null;
      return json === null ? [] : [[key, json] as const];
    }),
  );
  return [
    ...[...current]
      .filter(([key, json]) => held.get(key)?.removedAt !== null || held.get(key)?.json !== json)
      .map(([key]) => `${key}: ${nameOf(held.get(key))}, and not as in the API`),
    ...present.filter(({ key }) => !current.has(key)).map(({ key }) => `${key}: not in the API`),
  ];
}

/** `verify` calls no month proven in which a day that was never read holds a record that the mirror has not. */
function falselyProven(
  { truth }: World,
  { endedAt, startedAt, verdict }: RunEnd,
  { held, readsOf }: Claims,
): string[] {
  const months = verdict?.months.filter(({ state }) => state === "proven").map(({ month }) => month) ?? [];
  return truth.at(startedAt).flatMap(({ record, second, until }) => {
    if (Number.isNaN(second) || until <= endedAt || held.get(String(record.id))?.removedAt === null)
      return [];
    const start = Math.floor(second / dayMs) * dayMs;
    const month = new Date(second).toISOString().slice(0, 7);
    const isUnread =
      readsOf({ from: start, to: start + dayMs - 1 }) === null &&
      readsOf({ from: second, to: second }) === null;
    return isUnread && months.includes(month)
      ? [`${record.id}: ${month} is proven, and its day was never read`]
      : [];
  });
}

function nameOf(row: Held | undefined): string {
  if (!row) return "not in the mirror";
  return row.removedAt !== null ? "removed" : row.isMissing ? "missing" : "present";
}

export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
