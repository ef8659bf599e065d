/** The contents of the mirror's system tables, for the reference. */
export const systemTableDescriptions: Readonly<Record<string, string>> = {
  records: "every complete record as the API sent it; all other tables are built from it",
  record_versions: "earlier versions of records, for `--as-of`",
  host_names: "hosts' handles and names, each with the time at which it was first read",
  changes: "changes to mirrored records, one row per field",
  sync_runs: "every run of `sync`, `verify` and `forget`: range, requests, rows, outcome",
  coverage:
    "the date ranges that were read completely for each resource, and the time at which each range was read",
  analytics_hosts_snapshots:
    "the daily host ranking: one row each time a host's totals changed, without totals once the host has left the ranking",
  content_downloads: "downloaded library files: path, size, SHA-256",
};
