import { isDeepStrictEqual } from "node:util";
import { readPages } from "../../api/pages.js";
import { type HostFigures, keepSnapshot } from "../../records/snapshots.js";
import { valueAt } from "../../records/values.js";
import type { ApiRecord } from "../../resources/types.js";
import { recordCoverage } from "../../state/coverage.js";
import { presentIds } from "../../state/removals.js";
import { formatInstant } from "../../times.js";
import type { StrategyRun, SyncContext } from "../context.js";
import { full } from "./full.js";

/**
 * A ranking as it stands. It reorders while it is read and several rows can have no host, so nothing identifies a
 * row: the whole of it is read, believed when rows and hosts agree with the API's count, and kept as it was ranked.
 * That a host has one row only is not promised: one that has several in a ranking that stands still has them indeed.
 */
export const snapshot: StrategyRun = {
  plan: (context) => full.plan(context),

  async run(context) {
    const startedAt = context.clock.now();
    const rows = await readRanking(context);
    if (!rows) return;
    const { mirror, run, store } = context;
    const at = formatInstant(startedAt);
    mirror.db.transaction(() => {
      const ids = new Set<number>();
      for (const [position, record] of rows.entries()) {
        const written = store.write([record], { readAt: at, position, context: { position }, touch: true });
        for (const id of written.ids) ids.add(id);
        run.rows_new += written.added;
        run.rows_changed += written.changed;
      }
      run.rows_removed += store.remove(
        presentIds(mirror, context.resource.name).filter((id) => !ids.has(id)),
        at,
      );
      keepSnapshot(mirror, at.slice(0, 10), at, figuresOf(rows));
      recordCoverage(mirror, context.resource.name, {
        from: Number.NEGATIVE_INFINITY,
        to: startedAt,
        readAt: startedAt,
        runId: run.run_id,
      });
    })();
  },
};

const mostAttempts = 4;

async function readRanking(context: SyncContext): Promise<ApiRecord[] | null> {
  const { api, progress, resource, run, shortfalls, signal, task } = context;
  let before: readonly string[] = [];
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const rows: ApiRecord[] = [];
    let total = 0;
    let answers = 0;
    let isStill = true;
    const query = { ...resource.query, sort: "sale_amount", order: "desc", per_page: 100 };
    for await (const page of readPages(api, resource.path, query, { scope: resource.scope, signal })) {
      answers += 1;
      rows.push(...page.records);
      isStill &&= page.page === 1 || page.pagination.total_items === total;
      total = page.pagination.total_items;
      progress.pages += 1;
      run.rows_read += page.records.length;
      task.update({
        done: progress.pages,
        total: progress.pages + page.pagination.total_pages - page.page,
        rows: rows.length,
      });
    }
    const hosts = rows.map(hostId).filter((id) => id !== null);
    const texts = rows.map(({ json }) => json);
    const isDistinct = new Set(hosts).size === hosts.length;
    if (isStill && rows.length === total && (isDistinct || answers === 1 || isDeepStrictEqual(texts, before)))
      return rows;
    before = texts;
  }
  shortfalls.push("the ranking never stood still long enough to be read");
  return null;
}

function hostId({ value }: ApiRecord): string | null {
  const id = valueAt(value, ["host", "id"]);
  return typeof id === "string" ? id : null;
}

function figuresOf(rows: readonly ApiRecord[]): HostFigures[] {
  const byHost = new Map<string | null, HostFigures>();
  for (const row of rows) {
    const id = hostId(row);
    const username = valueAt(row.value, ["host", "username"]);
    const none = {
      host_id: id,
      host_username: typeof username === "string" ? username : null,
      clicks: 0,
      buy_now_clicks: 0,
      orders: 0,
      sales: 0,
    };
    const sum = byHost.get(id) ?? none;
    for (const figure of ["clicks", "buy_now_clicks", "orders", "sales"] as const) {
      const value = valueAt(row.value, [figure]);
      if (typeof value === "number") sum[figure] += value;
    }
    byHost.set(id, sum);
  }
  return [...byHost.values()];
}
