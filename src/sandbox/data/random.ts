/** A stream of numbers that look random, and are the same for the same seed, topic and place. */
export interface Draws {
  state: number;
}

export function draws(seed: number, topic: string, place = 0): Draws {
  return { state: hash(seed, topic, place) };
}

/** Returns 32 bits that depend on each of the three. */
export function hash(seed: number, topic: string, place: number): number {
  let h = Math.imul(seed + 1, 0x9e3779b1);
  for (let n = 0; n < topic.length; n++) h = Math.imul(h ^ topic.charCodeAt(n), 0x01000193);
  return scatter(scatter(h) ^ Math.imul(place + 1, 0x27d4eb2f));
}

/** Murmur3's last step: scatters neighbouring integers. */
export function scatter(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Returns the next number in [0, 1), of 32 bits: mulberry32. */
export function next(d: Draws): number {
  d.state = (d.state + 0x6d2b79f5) | 0;
  let t = Math.imul(d.state ^ (d.state >>> 15), 1 | d.state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

/** Returns the next integer in [from, to]. */
export function between(d: Draws, from: number, to: number): number {
  return from + Math.floor(next(d) * (to - from + 1));
}

/** Draws, and is true as often as `probability` says. */
export function chance(d: Draws, probability: number): boolean {
  return next(d) < probability;
}

/** Returns one item of a list. Throws a `RangeError` for an empty list. */
export function pick<T>(d: Draws, list: readonly T[]): T {
  const item = list[Math.floor(next(d) * list.length)];
  if (item === undefined) throw new RangeError("The list is empty.");
  return item;
}

/** Returns `value`, or null as often as `probability` says: draws in either case. */
export function seldomNull<T>(d: Draws, probability: number, value: T): T | null {
  return chance(d, probability) ? null : value;
}

/** Returns the next `digits` hexadecimal digits, at most 8. */
export function hex(d: Draws, digits: number): string {
  return (next(d) * 2 ** 32)
    .toString(16)
    .padStart(8, "0")
    .slice(8 - digits);
}

/** Returns the next UUID, of version 4. */
export function uuid(d: Draws): string {
  const variant = "89ab"[between(d, 0, 3)];
  return `${hex(d, 8)}-${hex(d, 4)}-4${hex(d, 3)}-${variant}${hex(d, 3)}-${hex(d, 8)}${hex(d, 4)}`;
}
