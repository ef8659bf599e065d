/** A word as a POSIX shell takes it: as it is where that is safe, else in quotes. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Words as one command, with variables before it. */
export function shellCommand(words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const set = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`);
  return [...set, ...words.map(shellWord)].join(" ");
}
