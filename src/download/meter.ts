/** Where one file's progress goes. */
export interface FileMeter {
  /** Its length so far, and of the whole, where known. */
  set(length: number, total: number | null): void;
  /** It failed: neither done nor to be done. */
  drop(): void;
}

/** Adds up the bytes of many files: what is done, and the total, which grows where a length is learned late. */
export function createMeter(
  sizes: Iterable<number | null>,
  show: (progress: { done: number; total: number }) => void,
): (size: number | null) => FileMeter {
  let done = 0;
  let total = 0;
  for (const size of sizes) total += size ?? 0;
  show({ done, total });
  return (size) => {
    let length = 0;
    let whole = size ?? 0;
    return {
      set(newLength, newTotal) {
        const newWhole = Math.max(newTotal ?? whole, newLength);
        done += newLength - length;
        total += newWhole - whole;
        length = newLength;
        whole = newWhole;
        show({ done, total });
      },
      drop() {
        done -= length;
        total -= whole;
        show({ done, total });
      },
    };
  };
}
