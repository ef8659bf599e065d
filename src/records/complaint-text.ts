import { exportsRecords, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import type { Complaint } from "./values.js";

/** Returns the sentence of a complaint. */
export function complaintText(complaint: Complaint, resource: Resource): string {
  const { table } = complaint;
  if (complaint.kind === "attribute") {
    const kept = exportsRecords(tablesOf(resource)[0] ?? null) ? "JSON exports" : "the mirror's records";
    return `${table}: the API sends a new attribute \`${complaint.path.slice(0, 120)}\`: it is kept in ${kept}`;
  }
  if (complaint.kind === "column") {
    const path = complaint.path.slice(0, 120);
    return complaint.name === null
      ? `${table}: not every attribute becomes a column (\`${path}\` does not): all are kept in JSON exports`
      : `${table}: the column of \`${path}\` is \`${complaint.name}\``;
  }
  const { column, found } = complaint;
  return `${table}.${column}: the API sent a value of another type (${found}): it is kept in JSON exports, and null in the column`;
}
