/** Formats a count with its noun: `1 record`, `3,000 records`, `1 retry`, `2 retries`. */
export function pluralize(count: number, noun: string, format = formatCount): string {
  return `${format(count)} ${count === 1 ? noun : `${noun.replace(/(?<![aeiou])y$/, "ie")}s`}`;
}

export function quoteShellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Formats an integer with commas: `1,234,567`. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a size in decimal units: `512 B`, `4.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/**
 * Makes a name unique, ignoring case, by appending `_2`, `_3` and so on.
 * @param taken names in lower case
 * @param maxLength the maximum length, including the suffix
 */
export function uniqueName(
  name: string,
  taken: ReadonlySet<string>,
  maxLength = Number.POSITIVE_INFINITY,
): string {
  let candidate = name.slice(0, maxLength);
  for (let n = 2; taken.has(candidate.toLowerCase()); n += 1)
    candidate = `${name.slice(0, maxLength - 1 - String(n).length)}_${n}`;
  return candidate;
}
