/**
 * Numbers that look random and depend on nothing but the seed and a place: record 2,999,999 costs as much as
 * record 0, and no list of records is ever kept.
 */

/** Murmur3's finalizer: a bijection on 32-bit integers that scatters its input. */
export function scatter(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The inverse of `scatter`: how an index is found again inside an id. */
export function gather(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x7ed1b41d);
  h ^= (h >>> 13) ^ (h >>> 26);
  h = Math.imul(h, 0xa5cb9243);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A 32-bit hash of a seed, a topic and a place. */
export function hash(seed: number, topic: number, place: number): number {
  return scatter(scatter(seed ^ Math.imul(topic, 0x9e3779b1)) ^ Math.imul(place + 1, 0x27d4eb2f));
}

/** The same as a number in [0, 1). */
export function unit(seed: number, topic: number, place: number): number {
  return hash(seed, topic, place) / 4294967296;
}

/** A stream of draws (mulberry32): one small object, no closure, since orders are drawn by the million. */
export interface Draws {
  state: number;
}

export function draws(seed: number, topic: number, place: number): Draws {
  return { state: hash(seed, topic, place) };
}

/** The next number in [0, 1). */
export function next(d: Draws): number {
  d.state = (d.state + 0x6d2b79f5) | 0;
  let t = Math.imul(d.state ^ (d.state >>> 15), 1 | d.state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

/** The next integer in [0, end). */
export function below(d: Draws, end: number): number {
  return Math.floor(next(d) * end);
}

/** The next integer in [from, to]. */
export function between(d: Draws, from: number, to: number): number {
  return from + below(d, to - from + 1);
}

export function chance(d: Draws, probability: number): boolean {
  return next(d) < probability;
}

export function pick<T>(d: Draws, list: readonly T[]): T {
  const item = list[below(d, list.length)];
  if (item === undefined) throw new RangeError("Nothing to pick from: the list is empty.");
  return item;
}

/** Two digits for each byte: ids are written by the million. */
const byteText = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The last `digits` hexadecimal digits of a 32-bit number. */
export function hex(value: number, digits: number): string {
  const front = `${byteText[value >>> 24]}${byteText[(value >>> 16) & 255]}`;
  const text = `${front}${byteText[(value >>> 8) & 255]}${byteText[value & 255]}`;
  return digits === 8 ? text : text.slice(8 - digits);
}

/** A version 4 UUID, the same for the same seed, topic and place. */
export function uuid(seed: number, topic: number, place: number): string {
  const [a, b, c, d] = [1, 2, 3, 4].map((n) => hash(seed + n, topic, place)) as [
    number,
    number,
    number,
    number,
  ];
  const variant = "89ab"[c >>> 30];
  return `${hex(a, 8)}-${hex(b, 4)}-4${hex(b >>> 16, 3)}-${variant}${hex(c, 3)}-${hex(c >>> 12, 4)}${hex(d, 8)}`;
}

/** What a draw is about: a number of its own for each, so that one record's draws never move another's. */
export const topics = {
  timeline: 1,
  tie: 2,
  order: 3,
  fate: 4,
  orderId: 5,
  host: 6,
  hostId: 7,
  product: 8,
  gearList: 9,
  relationship: 10,
  campaign: 11,
  campaignId: 12,
  deliverableId: 13,
  assignmentId: 14,
  content: 15,
  contentId: 16,
  recommendation: 17,
  gift: 18,
  code: 19,
  survey: 20,
  traffic: 21,
  live: 22,
  key: 23,
  brand: 24,
  file: 25,
  productShare: 26,
  event: 27,
} as const;
