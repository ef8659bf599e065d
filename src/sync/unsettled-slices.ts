import { withoutRange } from "../store/coverage.js";
import type { TimeRange } from "../util/time-ranges.js";

/** A slice whose list never settled, or the part of it that has not been re-read since. */
interface UnsettledSlice extends TimeRange {
  /** The description of the entire slice. */
  text: string;
}

/** The slices whose lists never settled during a run (A9). A later read of the same dates replaces them. */
export class UnsettledSlices {
  #slices: UnsettledSlice[] = [];

  /** Removes dates that have been re-read. */
  remove(range: TimeRange): void {
    this.#slices = withoutRange(this.#slices, range);
  }

  /** Adds a slice whose list never settled. */
  add(slice: UnsettledSlice): void {
    this.remove(slice);
    this.#slices.push(slice);
  }

  describe(): string[] {
    return [...new Set(this.#slices.map(({ text }) => text))];
  }
}
