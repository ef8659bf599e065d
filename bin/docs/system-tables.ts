/** What the program's own tables hold, for the reference. */
export const systemTables: Readonly<Record<string, string>> = {
  records: "the truth: every record whole, as the API sent it; the typed tables are made from it",
  record_versions: "what a record was before, and from when until when: for `--as-of`",
  host_names: "the handle and the name of each host, and when a record with them was first read",
  changes: "what changed in already mirrored records, a row per field",
  sync_runs: "every sync, proof and `forget`: range, requests, rows, outcome",
  coverage: "which ranges of a resource's dates were read completely, and when",
  analytics_hosts_snapshots:
    "the ranking's totals by day: a row only where a host's figures moved, without figures where it left",
  content_downloads: "library files that were fetched: path, bytes, SHA-256",
};
