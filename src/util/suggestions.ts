/** Returns the most similar name, or undefined if no name is similar enough. */
export function closestName(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length < 2) return undefined;
  const withWords = nameWithWords(typed, names);
  if (withWords !== undefined) return withWords;
  let closest: string | undefined;
  let closestDistance = Math.max(typed.length < 4 ? 1 : 2, Math.floor(typed.length * 0.4)) + 1;
  const wanted = typed.toLowerCase();
  for (const name of names) {
    const candidate = name.startsWith(wanted) ? 1 : editDistance(wanted, name.toLowerCase());
    if (candidate < closestDistance) [closest, closestDistance] = [name, candidate];
  }
  return closest;
}

/** Returns a hint that suggests the given names, or undefined if none is given. */
export function didYouMean(...names: readonly (string | undefined)[]): string | undefined {
  const quoted = names.flatMap((name) => (name === undefined ? [] : `\`${name}\``));
  if (quoted.length === 0) return undefined;
  const list = quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}` : quoted[0];
  return `did you mean ${list}?`;
}

/**
 * Returns a hint that suggests the closest name. If no name is similar enough, or if there are only a few names, the
 * hint lists all names.
 */
export function suggestName(typed: string, names: readonly string[]): string | undefined {
  const closest = closestName(typed, names);
  const quoted = names.map((name) => `\`${name}\``).join(", ");
  if (closest !== undefined) {
    const all = names.length > 1 && names.length <= 4 ? ` Use one of ${quoted}` : "";
    return `${didYouMean(closest)}${all}`;
  }
  if (names.length > 40) return undefined;
  return names.length === 1 ? `use ${quoted}` : `use one of ${quoted}`;
}

/** Returns the most similar name, or up to three names that contain `typed`. */
export function similarNames(typed: string, names: Iterable<string>): string[] {
  const closest = closestName(typed, sortByLength(names));
  if (closest !== undefined && !closest.startsWith(typed.toLowerCase())) return [closest];
  return namesContaining(typed, names);
}

function sortByLength(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => a.length - b.length);
}

/**
 * Returns up to three names that contain `typed`. Names that start with `typed` come first, then shorter names. If no
 * name contains `typed`, returns names that `typed` ends with, such as `username` for `host_username`.
 */
export function namesContaining(typed: string, names: Iterable<string>): string[] {
  const all = sortByLength(names);
  const wanted = typed.toLowerCase();
  const longer = wanted.length < 3 ? [] : all.filter((name) => name.includes(wanted));
  const matches =
    longer.length > 0 ? longer : all.filter((name) => wanted.endsWith(`_${name}`) && name !== "id");
  return matches
    .filter((name) => !matches.some((other) => name === `${other}_removed`))
    .sort((a, b) => Number(b.startsWith(wanted)) - Number(a.startsWith(wanted)))
    .slice(0, 3);
}

/**
 * Finds the intended column if the user added or omitted the table's noun. In `orders`, `order_id` means `id`, and
 * `date` means `order_date`.
 */
export function findOwnColumn(typed: string, table: string, columns: readonly string[]): string | undefined {
  const prefix = `${table.replace(/_.*/, "").replace(/s$/, "")}_`;
  const own = typed.startsWith(prefix) ? typed.slice(prefix.length) : prefix + typed;
  return columns.find((column) => column === own);
}

const abbreviations: Readonly<Record<string, string>> = {
  amt: "amount",
  no: "number",
  nr: "number",
  num: "number",
  qty: "quantity",
};

/**
 * Returns the shortest name that contains all the words in `typed`, in singular or plural, such as `order_line_items`
 * for `order_lines`.
 */
function nameWithWords(typed: string, names: Iterable<string>): string | undefined {
  const words = typed.toLowerCase().split("_");
  if (words.length < 2) return undefined;
  const stemsOf = (text: readonly string[]) =>
    text.map((word) => abbreviations[word] ?? word.replace(/s$/, ""));
  const stems = stemsOf(words);
  return sortByLength(names).find((name) => {
    const available = stemsOf(name.split("_"));
    return stems.every((stem) => available.includes(stem));
  });
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const letter of a) {
    const current = [(previous[0] ?? 0) + 1];
    for (const [column, replaced = 0] of previous.slice(0, -1).entries()) {
      const changed = Math.min(previous[column + 1] ?? 0, current[column] ?? 0) + 1;
      current.push(Math.min(changed, replaced + (letter === b[column] ? 0 : 1)));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
