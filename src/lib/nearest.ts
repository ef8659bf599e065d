/** No name is nearly as long. */
const longest = 100;

/**
 * The valid name that a mistyped one most likely meant; undefined when none is near.
 * Distance counts insertions, deletions, replacements and swapped neighbours.
 */
export function nearest(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length > longest) return undefined;
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  const wanted = typed.toLowerCase();
  for (const name of names) {
    const away = name.startsWith(wanted) && wanted.length > 1 ? 1 : distance(wanted, name.toLowerCase());
    if (away < least) [best, least] = [name, away];
  }
  return least <= Math.max(1, Math.floor(typed.length * 0.4)) ? best : undefined;
}

/** A hint for an unknown name: the nearest one, or all of them. */
export function suggest(typed: string, names: readonly string[]): string {
  const near = nearest(typed, names);
  if (near !== undefined) return `did you mean \`${near}\`?`;
  return names.length === 1 ? `use \`${names[0]}\`` : `use one of ${names.join(", ")}`;
}

function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let steps = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        steps = Math.min(steps, (before[column - 2] ?? 0) + 1);
      current.push(steps);
    }
    [before, above] = [above, current];
  }
  return above[b.length] ?? 0;
}
