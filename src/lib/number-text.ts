const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Returns the number that a text is, as JSON writes numbers (`12.50`); undefined for any other text, and for a number beyond
 * the range of a double.
 */
export function numberFromText(text: string): number | undefined {
  const value = jsonNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
