import type { Range } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import { type Mirror, statement } from "../mirror/index.js";

/** What a run set out to read, and since when: a run that is stopped leaves it to the next. */
export interface Goal {
  ranges: readonly Range[];
  begunAt: number;
}

/** How far a resource's sync has come, and what its runs are given. */
export interface Progress {
  /** The oldest date that was ever asked for; null before the first run. */
  floor(): number | null;
  /** What lies below it: nobody wants to know of that. */
  below(): Range;
  goal(): Goal | null;
  /** No goal: nothing is left to be read. */
  setGoal(floor: number | null, goal: Goal | null): void;
  /** Where the audit stands; null before the first. */
  cursor(): number | null;
  moveCursor(to: number): void;
  /** `--window` and `--audit` of the newest run: what `status` goes by. */
  remember(used: { windowMs: number; audit: number }): void;
  used(): { windowMs: number; audit: number } | null;
}

interface Row {
  floor_ms: number | null;
  goal: string | null;
  goal_begun_at: number | null;
  cursor_ms: number | null;
  window_ms: number | null;
  audit_requests: number | null;
}

export function openProgress(mirror: Mirror, resource: string): Progress {
  const row = () =>
    statement(mirror, "SELECT * FROM sync_state WHERE resource = ?").get(resource) as Row | undefined;
  const set = (members: string, ...values: (number | string | null)[]) => {
    statement(mirror, "INSERT OR IGNORE INTO sync_state (resource) VALUES (?)").run(resource);
    statement(mirror, `UPDATE sync_state SET ${members} WHERE resource = ?`).run(...values, resource);
  };
  const floor = () => {
    const found = row();
    return found ? (found.floor_ms ?? Number.NEGATIVE_INFINITY) : null;
  };
  return {
    floor,
    below: () => ({ from: Number.NEGATIVE_INFINITY, to: (floor() ?? Number.NEGATIVE_INFINITY) - 1 }),
    goal() {
      const found = row();
      if (!found?.goal || found.goal_begun_at === null) return null;
      const ranges = (JSON.parse(found.goal) as [number | null, number][]).map(([from, to]) => ({
        from: from ?? Number.NEGATIVE_INFINITY,
        to,
      }));
      return { ranges, begunAt: found.goal_begun_at };
    },
    setGoal(floor, goal) {
      const ranges = goal && JSON.stringify(goal.ranges.map(({ from, to }) => [finite(from), to]));
      const begunAt = goal?.begunAt ?? null;
      set("floor_ms = ?, goal = ?, goal_begun_at = ?", finite(floor), ranges, begunAt);
    },
    cursor: () => row()?.cursor_ms ?? null,
    moveCursor: (to) => set("cursor_ms = ?", to),
    used() {
      const found = row();
      return found ? { windowMs: found.window_ms ?? 30 * dayMs, audit: found.audit_requests ?? 5 } : null;
    },
    remember: ({ windowMs, audit }) => set("window_ms = ?, audit_requests = ?", windowMs, audit),
  };
}

function finite(ms: number | null): number | null {
  return ms !== null && Number.isFinite(ms) ? ms : null;
}
