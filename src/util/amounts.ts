/**
 * True if two amounts of money are equal. The API adds doubles in no fixed order, so the last digits of a sum
 * vary between responses. Amounts that differ by a tenth of a cent, the smallest unit of some currencies, are
 * not equal.
 */
export function amountsEqual(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.0005 || nearlyEqual(a, b);
}

/**
 * True if two numbers are equal to 12 significant digits, which is the precision of sums and ratios of
 * doubles. Integers are compared exactly.
 */
export function nearlyEqual(a: number, b: number): boolean {
  if (a === b) return true;
  if (Number.isInteger(a) && Number.isInteger(b)) return false;
  return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Parses a number in JSON notation, such as `12.50`. Returns undefined for any other string and for a number
 * outside the range of a double.
 */
export function numberFromText(text: string): number | undefined {
  const value = jsonNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
