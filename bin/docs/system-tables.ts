/** The contents of the mirror's system tables, for the reference. */
export const systemTables: Readonly<Record<string, string>> = {
  records: "every complete record as the API sent it; all other tables are built from it",
  record_versions: "earlier versions of records with their times, for `--as-of`",
  host_names: "the handle and name of each host, and when they were first read",
  changes: "changes to mirrored records, one row per field",
  sync_runs: "every run of `sync`, `verify` and `forget`: range, requests, rows, outcome",
  coverage: "the date ranges of each resource that were read completely, and when",
  analytics_hosts_snapshots:
    "the host ranking by day: a row per change of a host's totals, without totals after the host left",
  content_downloads: "downloaded library files: path, size, SHA-256",
};
