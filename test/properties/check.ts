import { openMirror } from "../../src/query/open.js";
import { compareTables } from "../../src/records/index.js";
import { details, resources } from "../../src/resources/index.js";
import type { JsonObject } from "../../src/resources/types.js";
import { endsTooSoon, mayBeHidden, mayBeRemoved } from "./allowed.js";
import { isDated } from "./brand.js";
import { type Claims, claimsOf, type Held } from "./claims.js";
import { isCapped, isOnTheEdge, unseenEvidence } from "./evidence.js";
import { isMisled, readingRun, wasCached, wasToldWrong } from "./misled.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What the mirror claims after a run against what the API had: one line for each lie. */
export async function lies(world: World, end: RunEnd): Promise<string[]> {
  const mirror = await openMirror(world.path);
  try {
    const integrity = mirror.db.pragma("integrity_check", { simple: true });
    const claims = claimsOf(mirror, world);
    const tables = compareTables(mirror, [...resources, ...details]);
    return [
      ...(integrity === "ok" ? [] : [`integrity_check: ${integrity}`]),
      ...tables.map((table) => `a table is not as its records: ${JSON.stringify(table)}`),
      ...invented(claims),
      ...notAsRead(world, end, claims),
      ...(end.verified ? stale(world, claims) : []),
      ...falselyRemoved(world, end, claims),
      ...tooManyRemoved(end, claims),
      ...(end.verified ? unseenEvidence(world, end, claims) : []),
      ...(end.verified && end.job === "sync" ? undetailed(world, end, claims) : []),
      ...(isWholeAndQuiet(world, end, claims) ? unequal(world, claims) : []),
      ...provenUnread(world, end, claims),
    ];
  } finally {
    mirror.db.close();
  }
}

/** How the mirror's present records differ from the API's. */
export async function differences(world: World): Promise<string[]> {
  const mirror = await openMirror(world.path);
  try {
    return unequal(world, claimsOf(mirror, world));
  } finally {
    mirror.db.close();
  }
}

function invented({ held }: Claims): string[] {
  return [...held].filter(([, { version }]) => !version).map(([key]) => `${key}: the API never said this`);
}

/** A place that is claimed as read holds every record that the API listed there then, as it was then or later. */
function notAsRead(world: World, end: RunEnd, claims: Claims): string[] {
  const found: string[] = [];
  for (const [key, versions] of world.truth.versions)
    for (const { json, from, until, keptAt } of versions) {
      const readAt = claims.readAt(keptAt);
      if (json === null || readAt === undefined || readAt < from || readAt >= until) continue;
      // One wrong answer shows when the counts are asked for, at the end.
      if (!end.verified && wasToldWrong(readingRun(world, readAt))) continue;
      // One answer of a list in no order may be in order by chance: who it seems to lack is looked for, and confessed.
      const isConfessed = !end.verified && claims.held.get(key)?.isMissing;
      if (isConfessed && world.api.behaviour.order === "attribution") continue;
      // An answer out of a cache may since have shown it as it was before, in a reading that was given up, too.
      if (world.runs.some((run) => run.endedAt > readAt && wasCached(run))) continue;
      if (!isOfThenOrLater(world, claims, key, readAt, keptAt) && !mayBeHidden(world, readAt, keptAt))
        found.push(`${key}: ${nameOf(claims.held.get(key))}, and was otherwise when its place was read`);
    }
  return found;
}

function isOfThenOrLater(world: World, claims: Claims, key: string, readAt: number, keptAt: number): boolean {
  const row = claims.held.get(key);
  const later = world.truth.versions.get(key)?.filter(({ until }) => until > readAt) ?? [];
  const isPresent = row !== undefined && row.removedAt === null;
  const isHeld = isPresent && !row.isMissing;
  // One that is known to be missing where it was then moved to is no claim.
  const isKnown = isHeld || later.some(({ from }) => from > readAt);
  if (isPresent && isKnown && later.some(({ json }) => json === row.json)) return true;
  // Elsewhere than here, it is as it was when that place was read: below is whether it has left here meanwhile.
  if (isHeld && Object.is(row.version?.keptAt, keptAt)) return false;
  // A run's reading is as old as its first answer: what moved meanwhile, to where was read before, it met nowhere.
  const run = world.runs.find(({ startedAt, endedAt }) => startedAt <= readAt && readAt <= endedAt);
  const isElsewhere = ({ from, json, keptAt }: Version) => {
    const read = claims.readAt(keptAt);
    return json === null || read === undefined || (read < from && from <= (run?.endedAt ?? 0));
  };
  if (later.some(isElsewhere)) return true;
  return row?.removedAt != null && world.runs.some((run) => mayBeRemoved(world, run, key, row.version));
}

/** A verified mirror holds nothing that had gone from its place when that was read. */
function stale(world: World, { held, readAt, spans }: Claims): string[] {
  return [...held]
    .filter(([, { removedAt, version }]) => {
      if (removedAt !== null || !version) return false;
      const read = readAt(version.keptAt);
      // Beside an end, the date that is shown does not say whether the API would list it there.
      const isEdge = spans.some((span) => isOnTheEdge(world, version, span));
      if (read === undefined || version.until > read || isEdge) return false;
      return !isMisled(world, readingRun(world, read));
    })
    .map(([key]) => `${key}: gone when its place was read, and still in a verified mirror`);
}

/** A run removes nothing that the API has listed from its beginning to its end. */
function falselyRemoved(world: World, end: RunEnd, { floor, held, readAt }: Claims): string[] {
  const { truth, watched } = world;
  const first = truth.at(end.startedAt);
  return [...held]
    .filter(([key, { removedAt, version }]) => {
      // What lies after its end was removed before the clock was set back.
      const at = (removedAt ?? Number.NaN) - end.ahead;
      if (!(at >= end.startedAt && at <= end.endedAt)) return false;
      const during = truth.versions.get(key)?.filter(({ until }) => until > end.startedAt) ?? [];
      if (!first.has(key) || during.some(({ json }) => json === null)) return false;
      // Where it moved to a date that nobody asked for, it is gone from all that the mirror can know.
      const isWithin = (kept: number) =>
        !isDated(watched) || Number.isNaN(kept) || kept >= floor * 1_000 || readAt(kept) !== undefined;
      return during.every(({ keptAt }) => isWithin(keptAt)) && !mayBeRemoved(world, end, key, version);
    })
    .map(([key]) => `${key}: falsely removed`);
}

/** Unless somebody accepts it, no run removes all that there is, nor over half of more than 20: whatever the API says. */
function tooManyRemoved({ acceptsRemovals, before }: RunEnd, { held }: Claims): string[] {
  const removed = [...before].filter((key) => held.get(key)?.removedAt !== null).length;
  const isLeft = [...held.values()].some(({ removedAt }) => removedAt === null);
  const isTooMany = !isLeft || (before.size > 20 && removed > before.size / 2);
  if (acceptsRemovals || removed === 0 || !isTooMany) return [];
  return [`${removed} of ${before.size} removed, and nobody accepted it`];
}

/**
 * A verified campaign has the details of a time after the run began, or after one that was stopped within the hour
 * before: what of them the list does not tell is asked for.
 */
function undetailed({ runs, truth, watched }: World, end: RunEnd, { held }: Claims): string[] {
  if (watched !== "opportunities") return [];
  const finished = runs.findLastIndex((run) => run !== end && run.job === "sync" && run.verified);
  const goneOnWith = runs.slice(finished + 1).find(({ startedAt }) => startedAt >= end.startedAt - hourMs);
  const begunAt = goneOnWith?.startedAt ?? end.startedAt;
  // What a cache says of the details is believed until they are asked for again: of a settled campaign they are not.
  const isCached = ({ wrong }: RunEnd) =>
    wrong.some(({ how, part }) => how === "stale" && part === "details");
  if (runs.some((run) => run.startedAt >= begunAt && isCached(run))) return [];
  const wasCached = runs.some(isCached);
  const isSettled = (json: string) => (JSON.parse(json) as JsonObject).status === "ARCHIVED";
  const detailsOf = ({ assignments, deliverables }: JsonObject) =>
    JSON.stringify([assignments, deliverables]);
  return [...held]
    .filter(([key, { full, json, removedAt }]) => {
      if (wasCached && isSettled(json)) return false;
      const since = truth.versions.get(key)?.filter(({ until }) => until > begunAt) ?? [];
      const mine = detailsOf(JSON.parse(full) as JsonObject);
      return removedAt === null && !since.some(({ record }) => detailsOf(record) === mine);
    })
    .map(([key]) => `${key}: details of before the run, and verified`);
}

/** Whether a list was read from its beginning to its end in this run, while nothing happened. */
function isWholeAndQuiet(world: World, end: RunEnd, { readAt }: Claims): boolean {
  const { watched, truth, api } = world;
  const { verified, startedAt, endedAt, job } = end;
  if (isDated(watched) || !verified || api.behaviour.lags !== "nothing") return false;
  if (isMisled(world, end)) return false;
  const isRead = job !== "sync" || (readAt(Number.NaN) ?? 0) >= startedAt;
  return isRead && !truth.changes.some((at) => at > startedAt && at <= endedAt);
}

function unequal(world: World, { held }: Claims): string[] {
  if (endsTooSoon(world)) return [];
  const all = world.truth.at(Number.MAX_VALUE);
  // A total that is capped may be that of the dated alone: nothing then tells of records without a date that stand last.
  const isTold = ({ keptAt }: Version) => !isDated(world.watched) || !Number.isNaN(keptAt);
  const isWhole = !isCapped(world.api.behaviour);
  const current = new Map([...all].filter(([, one]) => isWhole || isTold(one)));
  const mine = [...held].filter(
    ([, { removedAt, version }]) => removedAt === null && (isWhole || !version || isTold(version)),
  );
  return [
    ...[...current]
      .filter(([key, { json }]) => held.get(key)?.removedAt !== null || held.get(key)?.json !== json)
      .map(([key]) => `${key}: ${nameOf(held.get(key))}, and not as in the API`),
    ...mine.filter(([key]) => !all.has(key)).map(([key]) => `${key}: not in the API`),
  ];
}

/** `verify` calls no month proven in which a day that was never read holds a record that the mirror has not. */
function provenUnread(world: World, end: RunEnd, { held, stretches }: Claims): string[] {
  const { truth } = world;
  if (isMisled(world, end)) return [];
  const months = end.verdict?.months.filter(({ state }) => state === "proven") ?? [];
  const proven = new Set(months.map(({ month }) => month));
  return [...truth.at(end.startedAt)]
    .filter(([key, { keptAt, until }]) => {
      if (Number.isNaN(keptAt) || until <= end.endedAt || held.get(key)?.removedAt === null) return false;
      const day = Math.floor(keptAt / 1_000 / dayMs) * dayMs;
      const wasRead = stretches.some(({ from, to }) => from < day + dayMs && to >= day);
      return !wasRead && proven.has(new Date(keptAt / 1_000).toISOString().slice(0, 7));
    })
    .map(
      ([key, { keptAt }]) =>
        `${key}: its day was never read, and is proven: ${new Date(keptAt / 1_000).toISOString()}`,
    );
}

function nameOf(row: Held | undefined): string {
  if (!row) return "not in the mirror";
  return row.removedAt === null ? "present" : "removed";
}
