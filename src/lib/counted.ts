/**
 * A number with what it counts: `1 record`, `3 records`, `1 retry`, `2 retries`.
 * @param format how the number is written, where it may be large
 */
export function counted(count: number, noun: string, format: (count: number) => string = String): string {
  return `${format(count)} ${count === 1 ? noun : `${noun.replace(/(?<![aeiou])y$/, "ie")}s`}`;
}
