/**
 * A number with what it counts: `1 record`, `3 records`, `1 retry`, `2 retries`.
 * @param format how the number is written, where it may be large
 */
export function pluralize(count: number, noun: string, format: (count: number) => string = String): string {
  return `${format(count)} ${count === 1 ? noun : `${noun.replace(/(?<![aeiou])y$/, "ie")}s`}`;
}

/** A word as a POSIX shell takes it: as it is where that is safe, else in quotes. */
export function quoteShellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Words as one command, with variables before it. */
export function formatShellCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const set = Object.entries(env).map(([name, value]) => `${name}=${quoteShellWord(value)}`);
  return [...set, ...words.map(quoteShellWord)].join(" ");
}

/** A whole number with commas: `1,234,567`. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Bytes as a person says them: `512 B`, `4.2 MB`. Decimal, as file managers and network speeds are. */
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
