export type Row = Record<string, unknown>;

/**
 * Returns the expected columns for a record. A nested field is prefixed with the object's name. Arrays and objects with
 * arbitrary keys are JSON text, and booleans are 0 or 1.
 */
export function flat(record: object): Row {
  const row: Row = {};
  for (const [name, value] of Object.entries(record)) {
    if (typeof value !== "object" || value === null)
      row[name] = typeof value === "boolean" ? Number(value) : value;
    else {
      row[name] = JSON.stringify(value);
      if (!Array.isArray(value))
        for (const [inner, part] of Object.entries(flat(value))) row[`${name}_${inner}`] = part;
    }
  }
  return row;
}
