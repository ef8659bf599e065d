import { formatInstant } from "../../lib/times.js";
import { keepSnapshot, presentKeys } from "../../records/index.js";
import type { ApiRecord } from "../../resources/types.js";
import { countPresent, presentIds, recordCoverage } from "../../state/index.js";
import { hostIdOf, transactInParts } from "../former.js";
import { gather, gatherWhole } from "../gather.js";
import { refuseImplausible } from "../removals.js";
import { mostPerPage, type StrategyRun, type SyncRun } from "../run.js";
import { full } from "./full.js";

/**
 * A ranking as it stands. It reorders while it is read and several rows can have no host, so nothing identifies a
 * row: the whole of it is read, believed when rows and hosts agree with the API's count, and kept as it was ranked.
 * That a host has one row only is not promised: one that has several in a ranking that stands still has them indeed.
 */
export const snapshot: StrategyRun = {
  plan: (run) => full.plan(run),

  async run(run) {
    const startedAt = run.clock.now();
    const { mirror, row, store } = run;
    // A row is its place: how many are gone is a matter of their number.
    const present = countPresent(mirror, run.resource.name);
    const known = presentKeys(mirror, run.resource.name, "host.id");
    const first = await readRanking(run);
    const hosts = new Set(first?.map(hostIdOf));
    // One answer may be out of a cache.
    const isDoubted = first && (first.length < present || known.some((id) => !hosts.has(id)));
    const rows = isDoubted ? await readRanking(run) : first;
    if (!rows) return;
    refuseImplausible(run, { removals: present - rows.length, present, left: rows.length });
    const at = formatInstant(startedAt);
    const keep = function* () {
      const ids = new Set<number>();
      for (const [position, record] of rows.entries()) {
        const written = yield* store.write([record], {
          readAt: at,
          position,
          context: { position },
          touch: true,
        });
        for (const id of written.ids) ids.add(id);
        yield;
      }
      const gone = presentIds(mirror, run.resource.name).filter((id) => !ids.has(id));
      yield* store.remove(gone, at);
      keepSnapshot(
        mirror,
        at.slice(0, 10),
        at,
        rows.map(({ value }) => value),
      );
      const range = { from: Number.NEGATIVE_INFINITY, to: startedAt };
      recordCoverage(mirror, run.resource.name, { ...range, readAt: startedAt, runId: row.run_id });
    };
    await transactInParts(mirror, keep(), run);
  },
};

async function readRanking(run: SyncRun): Promise<ApiRecord[] | null> {
  const { resource, shortfalls } = run;
  /** A row without a host that comes on two pages is one that moved; twice on a page, there are two. */
  const counts = new Map<string, number>();
  const hostless = ({ json }: ApiRecord, page: number) => {
    const nth = (counts.get(`${page} ${json}`) ?? 0) + 1;
    counts.set(`${page} ${json}`, nth);
    return `${nth} ${json}`;
  };
  const query = { ...resource.query, sort: "sale_amount", order: "desc", per_page: mostPerPage };
  const { isWhole, items } = await gatherWhole(
    () => {
      counts.clear();
      return gather(run, resource.path, query);
    },
    (row, _, page) => hostIdOf(row) ?? hostless(row, page),
  );
  if (isWhole) return items;
  shortfalls.push("the ranking never stood still long enough to be read");
  return null;
}
