import type { Clock } from "../deps.js";

/** One request, with all of its tries. */
export interface Patient {
  /** It is sent, for the first time or again. */
  asks(): void;
  /** The API answered, be it with a refusal. */
  heard(): void;
  /** A try was in vain. */
  failed(): void;
  /** Milliseconds to go on for without a word from the API. */
  leftMs(): number;
  /** Nobody waits for it any more. */
  end(): void;
}

/**
 * How long the API has said nothing to anybody. The patience is one for all requests of a run: an API that is gone is
 * waited for once, not once for each resource. Whoever comes when it is used up gets a tenth of it, to find out whether
 * only the endpoint before does not answer.
 */
export class Silence {
  /** When it began: with the first request after the last word, or with that word where others were under way. */
  #since = 0;
  #inVain = false;
  readonly #asking = new Set<Patient>();
  readonly #silent = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  /** Whether more than one endpoint was asked in vain since the last word. */
  get isEverywhere(): boolean {
    return this.#silent.size > 1;
  }

  begin(path: string): Patient {
    let begunAt: number | null = null;
    const patient: Patient = {
      asks: () => {
        const now = this.clock.monotonic();
        begunAt ??= now;
        if (!this.#lasts) this.#since = now;
        this.#asking.add(patient);
      },
      heard: () => {
        this.#since = this.clock.monotonic();
        this.#inVain = false;
        this.#silent.clear();
        this.#asking.delete(patient);
      },
      failed: () => {
        this.#inVain = true;
        this.#silent.add(endpointOf(path));
      },
      leftMs: () => {
        const now = this.clock.monotonic();
        const sharedMs = this.maxWaitMs - (this.#lasts ? now - this.#since : 0);
        return Math.max(sharedMs, this.maxWaitMs / 10 - (now - (begunAt ?? now)));
      },
      end: () => void this.#asking.delete(patient),
    };
    return patient;
  }

  get #lasts(): boolean {
    return this.#inVain || this.#asking.size > 0;
  }
}

/** A list and its records are one endpoint: `/surveys/{id}/results` is of `/surveys`. */
function endpointOf(path: string): string {
  return path.split("/", 2).join("/");
}
