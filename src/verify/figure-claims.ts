import { dayOf, dayRange, type Range, startOfDay } from "../lib/ranges.js";
import { dayMs, formatInstant, instantOrNull } from "../lib/times.js";
import type { Query } from "../resources/types.js";
import type { DatedRun } from "../sync/run.js";
import { type Claim, claimOf } from "./claim.js";
import type { Evidence } from "./evidence.js";
import { curlLine, sqliteLine } from "./repeat.js";

type Asked = NonNullable<Evidence["figures"]>;

/** Returns how many whole days of a range have figures, in the API and in the mirror. None if it has no whole day. */
export function figuresOfDays(run: DatedRun, { from, to }: Range, { askedAt, moved }: Asked): Claim[] {
  const { figures: now, mirror, resource, state } = run;
  const { figures: declared } = resource.strategy;
  const days = {
    from: Number.isFinite(from) ? startOfDay(from + dayMs - 1) : from,
    to: startOfDay(to + 1) - 1,
  };
  if (!declared || !now || days.from > days.to) return [];
  const [first, last] = [Number.isFinite(from) ? dayOf(days.from) : "", dayOf(days.to)];
  const inRange = (day: string) => day >= first && day <= last;
  const api = [...now.keys()].filter(inRange).length;
  const kept = [...state.figures().keys()].filter(inRange).length;
  const differing = moved.filter(inRange).length;
  const any = declared.figures.map((name) => `.${name}`).join(", ");
  const counting = `jq '[.data.${declared.points}[] | select(any(${any}; (. // 0) != 0))] | length'`;
  return [
    claimOf(run, "days with figures", days, {
      api,
      mirror: kept,
      agrees: differing === 0,
      asked_at: formatInstant(askedAt),
      request: curlLine(declared.path, { ...declared.query, ...queryOf(days) }, counting),
      sql: sqliteLine(
        mirror,
        `SELECT count(*) FROM day_figures WHERE ${ofResource(run)} AND day BETWEEN '${first}' AND '${last}'`,
      ),
      note: differing === 0 ? "the figures of each are those of its last reading" : `${differing} differ`,
    }),
  ];
}

/** Returns the first figure of a day that is not what it was when the day was read. */
export function figuresOfDay(run: DatedRun, day: string, { askedAt }: Asked): Claim[] {
  const { figures: now, mirror, resource, state } = run;
  const { figures: declared } = resource.strategy;
  const valuesIn = (figures: ReadonlyMap<string, string> | null) =>
    JSON.parse(figures?.get(day) ?? "[]") as (number | undefined)[];
  const [api, kept] = [valuesIn(now), valuesIn(state.figures())];
  const nth = declared?.figures.findIndex((_, index) => api[index] !== kept[index]) ?? -1;
  const name = declared?.figures[nth];
  if (!declared || name === undefined) return [];
  const sql = `SELECT total(json_extract(figures, '$[${nth}]')) FROM day_figures WHERE ${ofResource(run)} AND day = '${day}'`;
  return [
    claimOf(run, `${name} of a day`, dayRange(day), {
      api: api[nth] ?? 0,
      mirror: kept[nth] ?? 0,
      agrees: false,
      asked_at: formatInstant(askedAt),
      request: curlLine(
        declared.path,
        { ...declared.query, ...queryOf(dayRange(day)) },
        `jq '[.data.${declared.points}[].${name}] | add // 0'`,
      ),
      sql: sqliteLine(mirror, sql),
      note: "its figures changed since it was read",
    }),
  ];
}

/** Source: the API document, "2. GET /analytics/clicks". */
function queryOf({ from, to }: Range): Query {
  return { start_date: instantOrNull(from) ?? undefined, end_date: formatInstant(to) };
}

function ofResource({ resource }: DatedRun): string {
  return `resource = '${resource.name}'`;
}
