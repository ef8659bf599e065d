/** Whole numbers from one to another, both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** At most so many of some pages, evenly spread. */
export function spread(pages: readonly number[], most: number): number[] {
  if (pages.length <= most) return [...pages];
  return range(1, most).map((nth) => pages[Math.floor((nth * pages.length) / (most + 1))] ?? 1);
}
