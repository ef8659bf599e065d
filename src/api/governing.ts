import type { ServerLimit } from "./limits.js";

export interface GovernorSettings {
  /** The API's origin: sandboxes on other ports have budgets of their own. */
  origin: string;
  /** The key itself; only its SHA-256 is written down. */
  key: string;
  /** Requests per window for the key; the origin has twice as many. `null`: no budget, and no file. */
  rateLimit: number | null;
  /** So many of them wait for those who sit in front of it: see `Patience.inAllMs`. 0 unless told otherwise. */
  kept?: number;
  /** The folder of `rate.sqlite`. */
  statePath: string;
  /** Milliseconds; 60,000 unless a test says otherwise. */
  windowMs?: number | undefined;
}

export interface GovernorEvents {
  onWait?(event: { ms: number; reason: "budget" | "server" }): void;
  onNotice?(event: { message: string }): void;
}

/** A permit: a place in the window, taken when a request is sent. */
export interface Permit {
  /** To be called once, when the answer's headers are there or the request has failed. */
  answered(limit: ServerLimit | null): void;
}

/** Milliseconds to wait for a permit; without end where one is left out. */
export interface Patience {
  /** On the server's word. */
  serverMs?: number | undefined;
  /**
   * For whatever reason, where somebody sits and waits: it is said at once that no permit comes in time. The requests
   * that are kept for people are theirs.
   */
  inAllMs?: number | undefined;
}

/**
 * Keeps the requests of every process on this machine within the API's limits (API document, Limits): a sliding
 * window in which bursts are allowed while there is room.
 */
export interface Governor {
  /**
   * Waits for a permit. Rejects with the signal's reason, or with `ApiUnavailable` where patience does not reach.
   */
  take(signal: AbortSignal, patience?: Patience): Promise<Permit>;
  /** Where what it knows is written down; null where this process knows it alone. */
  readonly file: string | null;
  /** Sends nothing with this key for `ms` milliseconds, in any process. */
  hold(ms: number): void;
  /** Milliseconds until a full window frees its next permit; `null` when there is room. */
  fullForMs(): number | null;
  close(): void;
}
