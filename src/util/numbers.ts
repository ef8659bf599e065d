/**
 * True if two amounts of money are equal except for rounding errors. The API sums doubles in varying order, so the last
 * digits can differ between responses. The tolerance is smaller than 0.001, the smallest unit of some currencies.
 */
export function amountsEqual(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.0005 || nearlyEqual(a, b);
}

/** True if two numbers agree to 12 significant digits, the precision of sums of doubles. Integers must be equal. */
export function nearlyEqual(a: number, b: number): boolean {
  if (a === b) return true;
  if (Number.isInteger(a) && Number.isInteger(b)) return false;
  return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Parses a number in JSON notation, such as `12.50`. Returns undefined for other strings and for numbers that are too
 * large, such as `1e400`.
 */
export function parseJsonNumber(text: string): number | undefined {
  const value = jsonNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Returns SQL that converts a JSON string to a number by the rules of `parseJsonNumber`, or to null if the string
 * is not a number. The CASE expressions are nested, because SQLite may evaluate both sides of AND, and `json_type`
 * fails on invalid JSON.
 */
export function numberFromSqlText(text: string): string {
  const number = `CASE WHEN json_type(${text}) IN ('integer', 'real') THEN CAST(${text} AS REAL) END`;
  const isNumeric = `${text} NOT GLOB '*[^-+.0-9eE]*' AND json_valid(${text})`;
  return `CASE WHEN CASE WHEN ${isNumeric} THEN abs(${number}) <= 1.7976931348623157e308 END THEN ${number} END`;
}
