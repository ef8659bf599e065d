/** Returns the valid name that a mistyped one most likely meant; undefined if none is near. */
export function closestName(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length < 2) return undefined;
  let best: string | undefined;
  let least = Math.max(typed.length < 4 ? 1 : 2, Math.floor(typed.length * 0.4)) + 1;
  const wanted = typed.toLowerCase();
  for (const name of names) {
    const away = name.startsWith(wanted) && wanted.length > 1 ? 1 : distance(wanted, name.toLowerCase());
    if (away < least) [best, least] = [name, away];
  }
  return best;
}

/** Returns a hint for an unknown name: the nearest one, or all of them if they are few. */
export function suggestName(typed: string, names: readonly string[]): string | undefined {
  const near = closestName(typed, names);
  if (near !== undefined) return `did you mean \`${near}\`?`;
  if (names.length > 40) return undefined;
  const quoted = names.map((name) => `\`${name}\``).join(", ");
  return names.length === 1 ? `use ${quoted}` : `use one of ${quoted}`;
}

/** Returns how many insertions, deletions and replacements make one word of another (Levenshtein). */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const letter of a) {
    const current = [(above[0] ?? 0) + 1];
    for (const [column, replaced = 0] of above.slice(0, -1).entries()) {
      const changed = Math.min(above[column + 1] ?? 0, current[column] ?? 0) + 1;
      current.push(Math.min(changed, replaced + (letter === b[column] ? 0 : 1)));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
