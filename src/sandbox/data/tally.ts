import { stateBits } from "./order-facts.js";

/** The order filter's values: API document, "Order filter `status`". */
export const orderStatuses = ["all", "active", "cancelled", "refunded"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Which orders a filter holds: `active` is neither cancelled nor fully refunded, the other two may overlap. */
export function hasStatus(bits: number, status: OrderStatus): boolean {
  if (bits & stateBits.removed) return false;
  if (status === "all") return true;
  if (status === "active") return (bits & (stateBits.cancelled | stateBits.refunded)) === 0;
  return (bits & stateBits[status]) !== 0;
}

/** Counts orders by state over index ranges, and finds the nth of a state, in O(log n) even while states change. */
export interface Tally {
  bitsOf(index: number): number;
  set(index: number, bits: number): void;
  /** How many orders of this status have an index below `end`. */
  before(end: number, status: OrderStatus): number;
  /** The index of the nth (from 0) order of this status; `length` where there are fewer. */
  select(nth: number, status: OrderStatus): number;
}

const blockBits = 8;
const blockSize = 1 << blockBits;

/** One byte per order, and a Fenwick tree of block counts per status. */
export function createTally(length: number, bitsAtStart: (index: number) => number): Tally {
  const states = new Uint8Array(length);
  const blocks = Math.ceil(length / blockSize);
  const trees = Object.fromEntries(
    orderStatuses.map((status) => [status, new Int32Array(blocks + 1)]),
  ) as Record<OrderStatus, Int32Array>;
  const counted = orderStatuses.map((status) => {
    const members = new Uint8Array(16);
    for (let bits = 0; bits < 16; bits++) members[bits] = hasStatus(bits, status) ? 1 : 0;
    return { tree: trees[status], members };
  });
  for (let index = 0; index < length; index++) {
    const bits = bitsAtStart(index);
    states[index] = bits;
    for (const { tree, members } of counted) raise(tree, (index >>> blockBits) + 1, members[bits] ?? 0);
  }
  for (const { tree } of counted) {
    for (let block = 1; block <= blocks; block++) {
      const parent = block + (block & -block);
      if (parent <= blocks) raise(tree, parent, tree[block] ?? 0);
    }
  }

  function set(index: number, bits: number): void {
    const old = states[index] ?? 0;
    states[index] = bits;
    for (const { tree, members } of counted) {
      const step = (members[bits] ?? 0) - (members[old] ?? 0);
      if (step === 0) continue;
      for (let block = (index >>> blockBits) + 1; block <= blocks; block += block & -block)
        raise(tree, block, step);
    }
  }

  function before(end: number, status: OrderStatus): number {
    let sum = 0;
    for (let block = end >>> blockBits; block > 0; block &= block - 1) sum += trees[status][block] ?? 0;
    for (let index = (end >>> blockBits) << blockBits; index < end; index++) {
      if (hasStatus(states[index] ?? 0, status)) sum++;
    }
    return sum;
  }

  function select(nth: number, status: OrderStatus): number {
    const tree = trees[status];
    let block = 0;
    let left = nth;
    for (let step = highestPower(blocks); step > 0; step >>>= 1) {
      const count = tree[block + step];
      if (block + step > blocks || count === undefined || count > left) continue;
      block += step;
      left -= count;
    }
    for (let index = block << blockBits; index < length; index++) {
      if (hasStatus(states[index] ?? 0, status) && left-- === 0) return index;
    }
    return length;
  }

  return { bitsOf: (index) => states[index] ?? stateBits.removed, set, before, select };
}

function raise(tree: Int32Array, place: number, step: number): void {
  tree[place] = (tree[place] ?? 0) + step;
}

function highestPower(limit: number): number {
  return limit < 1 ? 0 : 1 << (31 - Math.clz32(limit));
}
