import { truncateSync } from "node:fs";
import { anOrder, makeMirror, writeRead } from "./mirror.js";

/** A query that never ends, and gives no row. */
export const endless =
  "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)";

/**
 * A mirror in which one of the program's own statements never ends: what it asks `table` is asked of an endless view, and
 * `never_counted` has rows without end. It is as large on disk as those that statements take long over.
 */
export async function endlessMirror(home: string, table: "changes" | "sync_runs"): Promise<string> {
  const mirror = await makeMirror(home, "endless.sqlite");
  writeRead(mirror, "orders", [anOrder(0)]);
  const names = (mirror.db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  mirror.db.exec(
    `DROP TABLE ${table};
     CREATE VIEW ${table} AS SELECT ${names.map((name) => `(${endless}) AS ${name}`).join(", ")};
     CREATE VIEW never_counted AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c`,
  );
  mirror.db.close();
  truncateSync(mirror.path, 100 * 1_024 * 1_024);
  return mirror.path;
}
