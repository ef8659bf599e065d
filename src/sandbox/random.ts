/** A stream of pseudo-random numbers that depends on a seed, a topic and an index. */
export interface RandomStream {
  state: number;
}

export function createRandom(seed: number, topic: string, index = 0): RandomStream {
  return { state: hash(seed, topic, index) };
}

export function hash(seed: number, topic: string, index: number): number {
  return createHasher(seed, topic)(index);
}

export function createHasher(seed: number, topic: string): (index: number) => number {
  let h = Math.imul(seed + 1, 0x9e3779b1);
  for (let n = 0; n < topic.length; n++) h = Math.imul(h ^ topic.charCodeAt(n), 0x01000193);
  const mixed = mixBits(h);
  return (index) => mixBits(mixed ^ Math.imul(index + 1, 0x27d4eb2f));
}

/** The finalizer of MurmurHash3, which maps neighboring integers to unrelated integers. */
export function mixBits(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Returns a number in [0, 1) with 32 random bits (mulberry32). */
export function randomFloat(random: RandomStream): number {
  random.state = (random.state + 0x6d2b79f5) | 0;
  let t = Math.imul(random.state ^ (random.state >>> 15), 1 | random.state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

export function randomInteger(random: RandomStream, from: number, to: number): number {
  return from + Math.floor(randomFloat(random) * (to - from + 1));
}

export function chance(random: RandomStream, probability: number): boolean {
  return randomFloat(random) < probability;
}

export function pick<T>(random: RandomStream, list: readonly T[]): T {
  const item = list[Math.floor(randomFloat(random) * list.length)];
  if (item === undefined) throw new RangeError("The list is empty.");
  return item;
}

export function orNull<T>(random: RandomStream, probability: number, value: T): T | null {
  return chance(random, probability) ? null : value;
}

/** @param digits at most 8 */
export function randomHex(random: RandomStream, digits: number): string {
  return (randomFloat(random) * 2 ** 32)
    .toString(16)
    .padStart(8, "0")
    .slice(8 - digits);
}

export function randomUuid(random: RandomStream): string {
  const variant = "89ab"[randomInteger(random, 0, 3)];
  return `${randomHex(random, 8)}-${randomHex(random, 4)}-4${randomHex(random, 3)}-${variant}${randomHex(random, 3)}-${randomHex(random, 8)}${randomHex(random, 4)}`;
}
