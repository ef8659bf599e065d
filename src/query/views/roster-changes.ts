import { columnsOf, host } from "./columns.js";
import { hostColumns, numberIn } from "./figures.js";
import type { View } from "./view.js";

const [before, after] = [numberIn("c.old"), numberIn("c.new")];

export const rosterChanges: View = {
  name: "roster_changes",
  about:
    "one row per change of the roster that this mirror saw: a host joined, left, or has a different rate; hosts that " +
    "the first sync found are no change (`roster` says when they joined)",
  columns: columnsOf(`seen_at what ${host} old new last_seen_at relationship_id`, {
    what: "`joined`, `left` or `rate`",
  }),
  date: "seen_at",
  example: `SELECT seen_at, what, host_label, old, new FROM roster_changes
WHERE seen_at >= date('now', 'start of month', '-1 month') ORDER BY seen_at`,
  sql: `SELECT c.seen_changed_at AS seen_at,
      CASE c.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
      ${hostColumns("r.host_id")}, ${before} AS old, ${after} AS new,
      c.last_seen_unchanged_at AS last_seen_at, r.relationship_id
    FROM changes AS c JOIN (
        SELECT relationship_id, host_id FROM roster
        UNION ALL SELECT relationship_id, host_id FROM roster_removed
      ) AS r ON r.relationship_id = c.key
    WHERE c.resource = 'roster' AND (c.kind <> 'changed' OR (c.field = 'commission_rate' AND ${before} IS NOT ${after})) ORDER BY c.change_id`,
};
