/**
 * A name that is not taken yet, whatever its case: as it is, or with `_2`, `_3` and so on at its end.
 * @param taken names in lower case
 */
export function freeName(
  name: string,
  taken: ReadonlySet<string>,
  longest = Number.POSITIVE_INFINITY,
): string {
  let free = name.slice(0, longest);
  for (let n = 2; taken.has(free.toLowerCase()); n += 1)
    free = `${name.slice(0, longest - 1 - String(n).length)}_${n}`;
  return free;
}
