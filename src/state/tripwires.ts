import type { Mirror } from "../mirror/mirror.js";

/** Figures by day (`YYYY-MM-DD`), as text to compare. */
export type DayFigures = ReadonlyMap<string, string>;

/** What the API's figures were when each day's records were last read. */
export function readTripwires(mirror: Mirror, resource: string): DayFigures {
  const rows = mirror.db.prepare("SELECT day, figures FROM tripwires WHERE resource = ?").all(resource) as {
    day: string;
    figures: string;
  }[];
  return new Map(rows.map(({ day, figures }) => [day, figures]));
}

export function saveTripwires(mirror: Mirror, resource: string, figures: DayFigures): void {
  const save = mirror.db.prepare(
    `INSERT INTO tripwires VALUES (?, ?, ?)
     ON CONFLICT (resource, day) DO UPDATE SET figures = excluded.figures WHERE figures <> excluded.figures`,
  );
  mirror.db.transaction(() => {
    for (const [day, value] of figures) save.run(resource, day, value);
  })();
}
