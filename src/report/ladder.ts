/**
 * The chain ladder with Mack's standard error (T. Mack, "Distribution-free calculation of the standard error of chain
 * ladder reserve estimates", ASTIN Bulletin 23, 1993): the formulas are named by his numbers.
 */

/** What one row of the triangle comes to. All in the triangle's unit. */
export interface Reserve {
  /** The last that was observed. */
  latest: number;
  ultimate: number;
  /** Ultimate less latest. */
  reserve: number;
  standardError: number;
}

export interface Ladder {
  /** How much grows from one age to the next: one fewer than there are ages. */
  factors: number[];
  /** In the order of the rows; null for one that was never observed. */
  rows: (Reserve | null)[];
  total: number;
  totalError: number;
}

/**
 * @param triangle cumulative amounts, a row an origin, oldest first, a column an age; undefined: not observed. What was
 * observed of a row has no holes, and each age but the first was observed together with the one before it at least once.
 */
export function chainLadder(triangle: readonly (readonly (number | undefined)[])[]): Ladder {
  const ages = Math.max(0, ...triangle.map((row) => row.length));
  const links = Array.from({ length: Math.max(0, ages - 1) }, (_, age) => linkAt(triangle, age));
  const factors = links.map(({ factor }) => factor);
  const variances = varianceOf(links);
  const walks = triangle.map((row) => walk(row, factors));
  const rows = walks.map((path) => (path ? reserveOf(path, links, variances) : null));
  const total = rows.reduce((sum, row) => sum + (row?.reserve ?? 0), 0);
  return { factors, rows, total, totalError: Math.sqrt(totalVariance(walks, rows, links, variances)) };
}

interface Link {
  factor: number;
  /** The sum at this age of the rows that were observed at the next one too. */
  exposed: number;
  /** How many these are, and how far their own factors lie apart. */
  pairs: number;
  spread: number;
}

function linkAt(triangle: readonly (readonly (number | undefined)[])[], age: number): Link {
  const pairs = triangle.flatMap((row) => {
    const [from, to] = [row[age], row[age + 1]];
    return from === undefined || to === undefined ? [] : [[from, to] as const];
  });
  const exposed = pairs.reduce((sum, [from]) => sum + from, 0);
  const factor = exposed > 0 ? pairs.reduce((sum, [, to]) => sum + to, 0) / exposed : 1;
  const spread = pairs.reduce(
    (sum, [from, to]) => sum + (from > 0 ? from * (to / from - factor) ** 2 : 0),
    0,
  );
  return { factor, exposed, pairs: pairs.length, spread };
}

/** Mack's (5) and (6): one pair tells no variance, and takes what the two ages before it lead to expect. */
function varianceOf(links: readonly Link[]): number[] {
  const variances: number[] = [];
  for (const { pairs, spread } of links) {
    const [before = 0, one = before] = [variances.at(-2), variances.at(-1)];
    const guessed = Math.min(before > 0 ? one ** 2 / before : 0, before, one);
    variances.push(pairs > 1 ? spread / (pairs - 1) : guessed);
  }
  return variances;
}

/** A row from its last observed age to the last of all. */
interface Walk {
  from: number;
  amounts: number[];
}

function walk(row: readonly (number | undefined)[], factors: readonly number[]): Walk | null {
  const from = row.findLastIndex((amount) => amount !== undefined);
  const latest = row[from];
  if (latest === undefined) return null;
  const amounts = [latest];
  for (const factor of factors.slice(from)) amounts.push((amounts.at(-1) ?? 0) * factor);
  return { from, amounts };
}

/** Mack's (7). */
function reserveOf({ from, amounts }: Walk, links: readonly Link[], variances: readonly number[]): Reserve {
  const [latest = 0] = amounts;
  const ultimate = amounts.at(-1) ?? 0;
  const sum = links.slice(from).reduce((all, { factor, exposed }, step) => {
    const own = amounts[step] ?? 0;
    if (factor === 0 || own <= 0 || exposed <= 0) return all;
    return all + ((variances[from + step] ?? 0) / factor ** 2) * (1 / own + 1 / exposed);
  }, 0);
  return { latest, ultimate, reserve: ultimate - latest, standardError: Math.abs(ultimate) * Math.sqrt(sum) };
}

/** Mack's (8): the rows share the factors, so their errors do not simply add up. */
function totalVariance(
  walks: readonly (Walk | null)[],
  rows: readonly (Reserve | null)[],
  links: readonly Link[],
  variances: readonly number[],
): number {
  return rows.reduce((all, row, index) => {
    const from = walks[index]?.from ?? 0;
    if (!row) return all;
    const younger = rows.slice(index + 1).reduce((sum, other) => sum + (other?.ultimate ?? 0), 0);
    const shared = links.slice(from).reduce((sum, { factor, exposed }, step) => {
      if (factor === 0 || exposed <= 0) return sum;
      return sum + (2 * (variances[from + step] ?? 0)) / factor ** 2 / exposed;
    }, 0);
    return all + row.standardError ** 2 + row.ultimate * younger * shared;
  }, 0);
}
