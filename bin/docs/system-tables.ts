/** What the program's own tables hold, for the reference. A test sees to it that none is left out. */
export const systemTables: Readonly<Record<string, string>> = {
  records: "the truth: every record whole, as the API sent it; the typed tables are made from it",
  record_versions: "what a record was before, and from when until when: for `--as-of`",
  changes: "what changed in already mirrored records, a row a field",
  sync_runs: "every run of every resource: range, requests, rows, outcome",
  coverage: "which ranges of a resource's dates were read completely, and when",
  run_coverage: "what of a resource's dates was covered after the last answer to a run",
  sync_state:
    "what a resource's sync remembers: its oldest date, its goal where it was stopped, the audit's cursor",
  day_figures: "the API's figures by day when the day's records were last read whole",
  missing: "present records that the newest reading of their date did not show: the next proof decides",
  open_columns: "columns and attributes that this version was not told about, as first seen",
  analytics_hosts_snapshots:
    "the ranking's totals by day: a row only where a host's figures moved, without figures where it left",
  analytics_hosts_days: "the days that have a snapshot",
  content_downloads: "library files that were fetched: path, bytes, SHA-256",
  content_parts: "interrupted downloads, and which version of the file they are of",
  notices: "warnings that were given once",
  mirror_info: "whose mirror it is, and what it learned about the API",
};
