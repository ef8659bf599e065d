export type Row = Record<string, unknown>;

/**
 * Returns a record's columns, as this suite reads the contract: a nested object's fields are prefixed with its name,
 * open objects and arrays are JSON, booleans are 0 and 1.
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
