import { columnsOf, host } from "./columns.js";
import { hostColumns } from "./figures.js";
import type { View } from "./view.js";

export const contentByHost: View = {
  name: "content_by_host",
  about: "one row per host with files in the library; files without a host have their own row",
  columns: columnsOf(`${host} files deliverables uploads images videos campaigns bytes last_added_at`),
  // SQLite takes a column without an aggregate from the row with the maximum.
  sql: `SELECT ${hostColumns("c.host_id")}, count(*) AS files,
      total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
      total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
      count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes,
      created_at AS last_added_at, max(created_at_utc)
    FROM content AS c GROUP BY c.host_id ORDER BY host_id`,
};
