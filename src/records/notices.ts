import type { Mirror } from "../mirror/index.js";
import type { Complaint } from "./values.js";

/**
 * Remembers what was complained of: the same finding in every record of every night is one warning.
 * @returns a function that is true the first time; `at`: when the answer was asked for, ISO 8601
 */
export function openNotices({ db }: Mirror): (complaint: Complaint, at: string) => boolean {
  const insert = db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)");
  const known = new Set<string>();
  return (complaint, at) => {
    const subject = subjectOf(complaint);
    if (known.has(subject)) return false;
    known.add(subject);
    return insert.run(subject, at).changes > 0;
  };
}

function subjectOf(complaint: Complaint): string {
  const { kind, table } = complaint;
  if (kind === "type") return `type:${table}.${complaint.column}:${complaint.found}`;
  if (kind === "attribute") return `attribute:${table}.${complaint.path}`;
  return `column:${table}.${complaint.name === null ? "" : complaint.path}`;
}
