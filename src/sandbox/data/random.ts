/** A stream of numbers that look random, and are the same for the same seed, topic and place. */
export interface RandomStream {
  state: number;
}

export function createRandom(seed: number, topic: string, place = 0): RandomStream {
  return { state: hash(seed, topic, place) };
}

/** Returns 32 bits that depend on each of the three. */
export function hash(seed: number, topic: string, place: number): number {
  let h = Math.imul(seed + 1, 0x9e3779b1);
  for (let n = 0; n < topic.length; n++) h = Math.imul(h ^ topic.charCodeAt(n), 0x01000193);
  return mixBits(mixBits(h) ^ Math.imul(place + 1, 0x27d4eb2f));
}

/** Murmur3's last step: scatters neighbouring integers. */
export function mixBits(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Returns the next number in [0, 1), of 32 bits: mulberry32. */
export function randomFloat(d: RandomStream): number {
  d.state = (d.state + 0x6d2b79f5) | 0;
  let t = Math.imul(d.state ^ (d.state >>> 15), 1 | d.state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

/** Returns the next integer in [from, to]. */
export function randomInteger(d: RandomStream, from: number, to: number): number {
  return from + Math.floor(randomFloat(d) * (to - from + 1));
}

/** Draws, and is true as often as `probability` says. */
export function chance(d: RandomStream, probability: number): boolean {
  return randomFloat(d) < probability;
}

/** Returns one item of a list. Throws a `RangeError` for an empty list. */
export function pick<T>(d: RandomStream, list: readonly T[]): T {
  const item = list[Math.floor(randomFloat(d) * list.length)];
  if (item === undefined) throw new RangeError("The list is empty.");
  return item;
}

/** Returns `value`, or null as often as `probability` says: draws in either case. */
export function orNull<T>(d: RandomStream, probability: number, value: T): T | null {
  return chance(d, probability) ? null : value;
}

/** Returns the next `digits` hexadecimal digits, at most 8. */
export function randomHex(d: RandomStream, digits: number): string {
  return (randomFloat(d) * 2 ** 32)
    .toString(16)
    .padStart(8, "0")
    .slice(8 - digits);
}

/** Returns the next UUID, of version 4. */
export function randomUuid(d: RandomStream): string {
  const variant = "89ab"[randomInteger(d, 0, 3)];
  return `${randomHex(d, 8)}-${randomHex(d, 4)}-4${randomHex(d, 3)}-${variant}${randomHex(d, 3)}-${randomHex(d, 8)}${randomHex(d, 4)}`;
}
