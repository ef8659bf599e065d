export type Row = Record<string, unknown>;

/**
 * Returns the columns that a record should have. The names of nested fields are prefixed with the object's name. Arrays
 * and open objects are JSON, and booleans are 0 or 1.
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
