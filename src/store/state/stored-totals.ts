import { type Range, utcDay } from "../../util/ranges.js";
import { type Mirror, statement } from "../mirror/database.js";

/** The API's totals for one day. */
export interface DayTotals {
  /** The number of records. */
  count: number;
  amounts: readonly number[];
}

/** Totals keyed by day (`2026-01-31`). Days without activity may be missing. */
export type TotalsByDay = ReadonlyMap<string, DayTotals>;

/** The API's daily totals as of the last read of each day, stored in the table `day_figures`. */
export class StoredTotals {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  all(): TotalsByDay {
    const select = statement(this.mirror, "SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    const rows = select.all(this.resource) as [string, string][];
    return new Map(rows.map(([day, json]) => [day, fromJson(json)]));
  }

  /**
   * Replaces the totals for a range of complete days. Days without new totals lose their stored totals, so
   * they count as changed in the next comparison.
   */
  replace({ from, to }: Range, totals: TotalsByDay): void {
    const first = Number.isFinite(from) ? utcDay(from) : "";
    const last = utcDay(to);
    const remove = statement(
      this.mirror,
      "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?",
    );
    remove.run(this.resource, first, last);
    const insert = statement(this.mirror, "INSERT INTO day_figures VALUES (?, ?, ?)");
    for (const [day, { count, amounts }] of totals) {
      if (day >= first && day <= last) insert.run(this.resource, day, JSON.stringify([count, ...amounts]));
    }
  }
}

function fromJson(json: string): DayTotals {
  const [count = 0, ...amounts] = JSON.parse(json) as number[];
  return { count, amounts };
}
