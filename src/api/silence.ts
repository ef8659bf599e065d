import type { Clock } from "../deps.js";

/**
 * Measures how long the API has not answered any request of a run. All requests share one patience: an API that is gone
 * is waited for once, not once for each resource. A request that begins when it is used up gets a tenth of it, to find
 * out if only the endpoint before it does not answer.
 */
export class Silence {
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** When the silence began; null while the API answers. */
  #since: number | null = null;
  readonly #silent = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  /** True if more than one endpoint did not answer since the last answer. */
  get isEverywhere(): boolean {
    return this.#silent.size > 1;
  }

  /** The API answered, be it with a refusal. */
  answered(): void {
    this.#answeredAt = this.clock.monotonic();
    this.#since = null;
    this.#silent.clear();
  }

  /** A try that was sent at `sentAt` got no answer. A list and its records are one endpoint. */
  failed(path: string, sentAt: number): void {
    this.#since ??= Math.max(sentAt, this.#answeredAt);
    this.#silent.add(path.split("/", 2).join("/"));
  }

  /** Milliseconds that a request, first sent at `begunAt`, may go on without an answer from the API. */
  leftMs(begunAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#since === null ? 0 : now - this.#since);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - begunAt));
  }
}
