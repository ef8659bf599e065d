import type { Mirror } from "../mirror/index.js";

/** A host as some record names it. */
export interface Host {
  id: string;
  username: string | null;
}

/** Returns all hosts of the records and of their history: one per id and handle. */
export function readHosts(mirror: Mirror): Host[] {
  const select = `SELECT DISTINCT value ->> 'id' || '' AS id, value ->> 'username' AS username
    FROM (SELECT json FROM records UNION ALL SELECT json FROM record_versions) AS stored, json_tree(stored.json)
    WHERE key = 'host' AND iif(type = 'object', value ->> 'id', NULL) IS NOT NULL`;
  return mirror.db.prepare<[], Host>(select).all();
}
