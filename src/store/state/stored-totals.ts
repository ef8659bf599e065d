import { type Range, utcDay } from "../../util/ranges.js";
import { type Mirror, statement } from "../mirror/database.js";

/** The API's totals of each day at the time when the records of the day were last read, in the table `day_figures`. */
export class StoredTotals {
  constructor(
    private readonly mirror: Mirror,
    private readonly resource: string,
  ) {}

  /** Returns the totals as JSON, by day (`YYYY-MM-DD`). */
  all(): ReadonlyMap<string, string> {
    const select = statement(this.mirror, "SELECT day, figures FROM day_figures WHERE resource = ?").raw();
    return new Map(select.all(this.resource) as [string, string][]);
  }

  /** Replaces the totals of a range of complete days. A stored day without totals differs from any totals of the API. */
  replace({ from, to }: Range, totals: ReadonlyMap<string, string>): void {
    const first = Number.isFinite(from) ? utcDay(from) : "";
    const last = utcDay(to);
    const remove = statement(
      this.mirror,
      "DELETE FROM day_figures WHERE resource = ? AND day BETWEEN ? AND ?",
    );
    remove.run(this.resource, first, last);
    const insert = statement(this.mirror, "INSERT INTO day_figures VALUES (?, ?, ?)");
    for (const [day, text] of totals) {
      if (day >= first && day <= last) insert.run(this.resource, day, text);
    }
  }
}
