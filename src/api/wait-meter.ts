import type { Clock } from "../deps.js";

/** Adds up the time in which at least one of several concurrent waits goes on: what the person waits. */
export class WaitMeter {
  #open = 0;
  #since = 0;
  #total = 0;

  constructor(private readonly clock: Clock) {}

  get totalMs(): number {
    return this.#total + (this.#open > 0 ? this.clock.monotonic() - this.#since : 0);
  }

  async during<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#open === 0) this.#since = this.clock.monotonic();
    this.#open += 1;
    try {
      return await wait();
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#total += this.clock.monotonic() - this.#since;
    }
  }
}
