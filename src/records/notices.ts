import type { Reporter } from "../lib/reporter.js";
import type { Mirror } from "../mirror/index.js";
import { exportsRecords, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import type { Complaint } from "./values.js";

type Notice = Exclude<Complaint, { kind: "type" }>;

/**
 * Reports unknown attributes and columns with another name, once in the life of a mirror: the same finding in every record of every night is one
 * warning; a new attribute needs no action, and is a note.
 * @param at when the answer was asked for, ISO 8601
 */
export function openNotices(
  { db }: Mirror,
  resource: Resource,
  reporter: Pick<Reporter, "note" | "warn">,
  at: () => string,
): (complaint: Notice) => void {
  const insert = db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)");
  const known = new Set<string>();
  return (complaint) => {
    const subject = subjectOf(complaint);
    if (known.has(subject)) return;
    known.add(subject);
    if (insert.run(subject, at()).changes === 0) return;
    reporter[complaint.kind === "attribute" ? "note" : "warn"](complaintText(complaint, resource));
  };
}

/** Records that a warning is given. Returns false if this mirror has been given it before. @param at ISO 8601 */
export function isFirstNotice({ db }: Mirror, subject: string, at: string): boolean {
  return db.prepare("INSERT OR IGNORE INTO notices VALUES (?, ?)").run(subject, at).changes > 0;
}

function subjectOf(complaint: Notice): string {
  const { kind, table } = complaint;
  if (kind === "attribute") return `attribute:${table}.${complaint.path}`;
  return `column:${table}.${complaint.name === null ? "" : complaint.path}`;
}

/** Returns the sentence of a complaint. */
function complaintText(complaint: Notice, resource: Resource): string {
  const { table, kind } = complaint;
  const path = complaint.path.slice(0, 120);
  if (kind === "column" && complaint.name === null)
    return `${table}: not every attribute becomes a column (\`${path}\` does not): all are kept in JSON exports`;
  if (kind === "column") return `${table}: the column of \`${path}\` is \`${complaint.name}\``;
  const kept = exportsRecords(tablesOf(resource)[0] ?? null) ? "JSON exports" : "the mirror's records";
  return `${table}: the API sends a new attribute \`${path}\`: it is kept in ${kept}`;
}
