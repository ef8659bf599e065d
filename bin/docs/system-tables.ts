/** The contents of the mirror's system tables, for the reference. */
export const systemTableDescriptions: Readonly<Record<string, string>> = {
  records: "every complete record as the API sent it; all other tables are built from it",
  record_versions: "earlier versions of records, for `--as-of`",
  host_names: "handles and names of hosts, with the time of their first reading",
  changes: "changes to mirrored records, one row per field",
  sync_runs: "every run of `sync`, `verify` and `forget`: range, requests, rows, outcome",
  coverage: "the date ranges of each resource that were read completely, with the time of the reading",
  analytics_hosts_snapshots:
    "the host ranking by day: a row per change of a host's totals, without totals after the host left",
  content_downloads: "downloaded library files: path, size, SHA-256",
};
