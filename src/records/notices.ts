import type { Mirror } from "../mirror/index.js";
import type { Complaint } from "./values.js";

/** Remembers what was complained of: the same finding in every record of every night is one warning. */
export interface Notices {
  /** True the first time. `at`: when the answer was asked for, ISO 8601. */
  isNew(complaint: Complaint, at: string): boolean;
}

export function openNotices(mirror: Mirror): Notices {
  const insert = mirror.db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)");
  const heard = new Set<string>();
  return {
    isNew(complaint, at) {
      const subject = subjectOf(complaint);
      if (heard.has(subject)) return false;
      heard.add(subject);
      return insert.run(subject, at).changes > 0;
    },
  };
}

function subjectOf(complaint: Complaint): string {
  switch (complaint.kind) {
    case "type":
      return `type:${complaint.table}.${complaint.column}:${complaint.found}`;
    case "attribute":
      return `attribute:${complaint.table}.${complaint.path}`;
    case "column":
      return `column:${complaint.table}.${complaint.name === null ? "" : complaint.path}`;
    case "repeat":
      return `repeat:${complaint.table}`;
  }
}
