import { exportsRecords, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import type { Complaint } from "./values.js";

/** Returns the sentence of a complaint. */
export function complaintText(complaint: Complaint, resource: Resource): string {
  const { table, kind } = complaint;
  if (kind === "type")
    return `${table}.${complaint.column}: the API sent a value of another type (${complaint.found}): it is kept in JSON exports, and null in the column`;
  const path = complaint.path.slice(0, 120);
  if (kind === "column" && complaint.name === null)
    return `${table}: not every attribute becomes a column (\`${path}\` does not): all are kept in JSON exports`;
  if (kind === "column") return `${table}: the column of \`${path}\` is \`${complaint.name}\``;
  const kept = exportsRecords(tablesOf(resource)[0] ?? null) ? "JSON exports" : "the mirror's records";
  return `${table}: the API sends a new attribute \`${path}\`: it is kept in ${kept}`;
}
