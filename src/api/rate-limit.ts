import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../deps.js";
import { loadSqlite, type SqliteConstructor } from "../util/sqlite.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { retryAfterTooLong } from "./api-errors.js";
import type { ApiEvents, ApiSettings } from "./client.js";
import type { ServerLimit } from "./headers.js";
import { type Permit, RequestLog } from "./rate-limit-file.js";

/** Milliseconds until the file is looked at again: an answer may have come meanwhile, or the file may be gone. */
const lookAgainMs = 1_000;
/** The longest wait that a header other than `Retry-After` can ask for. */
const longestResetMs = 60_000;

/**
 * Keeps the requests of all processes of this machine within the API's limits (API document, Limits): a sliding window in
 * one SQLite file, in which bursts pass while the budget lasts. A request counts until a window after its answer's headers
 * came, because by then the server has counted it. Waits that the server's headers ask for are kept in memory: they end
 * with the run that received them.
 */
export class RateLimiter {
  /** The file that all processes count in; null if this process counts alone. */
  #file: string | null;
  #ledger: RequestLog | null = null;
  /** True once requests were counted that a new file knows nothing of. */
  #hasCounted = false;
  /** Nothing is sent before this time of the monotonic clock, because the server asked for a wait. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** The requests that the server still allows until its reset, if that is fewer than our own limit. */
  #serverLimit: { remaining: number; until: number } | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly clock: Clock,
    private readonly events: Pick<ApiEvents, "onNotice" | "onWait">,
  ) {
    this.#file = join(settings.statePath, "rate.sqlite");
  }

  /**
   * Waits for a permit. A wait that the server asked for may take `maxServerWaitMs` at most.
   * @returns its id
   * @throws the signal's reason, or ApiUnavailable if the server asks for a longer wait
   */
  async acquire(signal: AbortSignal, maxServerWaitMs = Number.POSITIVE_INFINITY): Promise<number> {
    let [serverWaitMs, isReported] = [0, false];
    for (;;) {
      signal.throwIfAborted();
      const heldMs = this.#serverWaitMs();
      const permit = heldMs > 0 ? { waitMs: heldMs } : await this.#try();
      if ("id" in permit) {
        if (this.#serverLimit) this.#serverLimit.remaining -= 1;
        return permit.id;
      }
      const ms = permit.waitMs;
      if (heldMs > 0 && serverWaitMs + ms > maxServerWaitMs) throw retryAfterTooLong(ms, this.clock.now());
      if (!isReported && ms > 0) this.events.onWait?.({ ms, reason: heldMs > 0 ? "server" : "budget" });
      isReported ||= ms > 0;
      const sleepMs = Math.min(ms, lookAgainMs);
      if (heldMs > 0) serverWaitMs += sleepMs;
      await this.clock.sleep(sleepMs, signal);
    }
  }

  /** Notes that a response's headers came, or that its request failed. If the file cannot be written, the request only counts longer. */
  release(id: number, server: ServerLimit | null): void {
    const now = this.clock.monotonic();
    const used = this.#quietly((ledger) => ledger.answered(id, now)) ?? 0;
    // Somebody else uses the key, or its limit is lower than ours.
    if (server && server.remaining < (this.settings.rateLimit ?? Number.POSITIVE_INFINITY) - used)
      this.#serverLimit = {
        remaining: server.remaining,
        until: now + Math.min(server.resetMs, longestResetMs),
      };
  }

  /** Sends nothing in this run for `ms` milliseconds. */
  pause(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.clock.monotonic() + ms);
  }

  /** Returns how long the server still asks to wait, in milliseconds; 0 if it does not. */
  #serverWaitMs(): number {
    const now = this.clock.monotonic();
    if (this.#serverLimit && this.#serverLimit.until <= now) this.#serverLimit = null;
    const limit = this.#serverLimit;
    const until = limit && limit.remaining <= 0 ? Math.max(limit.until, this.#heldUntil) : this.#heldUntil;
    return Math.max(0, until - now);
  }

  close(): void {
    this.#ledger?.close();
    this.#ledger = null;
  }

  /** Takes a permit if one is free, whatever state the file is in. */
  async #try(): Promise<Permit> {
    if (this.settings.rateLimit === null) return { id: 0 };
    const Sqlite = await loadSqlite();
    try {
      this.#ledger ??= this.#open(Sqlite, this.settings.rateLimit);
      return this.#ledger.take(() => this.clock.monotonic());
    } catch (error) {
      const code = outsideCode(error);
      if (this.#file === null || code === "") throw error;
      this.close();
      this.#recover(this.#file, code, errorReason(error));
      return { waitMs: 0 };
    }
  }

  /** Opens the file. If requests were counted in a file that is lost, the new one begins with its whole window used. */
  #open(Sqlite: SqliteConstructor, limit: number): RequestLog {
    const { baseUrl, key, windowMs = 60_000 } = this.settings;
    const account = { origin: new URL(baseUrl).origin, key: createHash("sha256").update(key).digest("hex") };
    const ledger = new RequestLog(Sqlite, this.#file, { ...account, limit, windowMs });
    if (this.#hasCounted) ledger.spend(this.clock.monotonic());
    this.#hasCounted = true;
    return ledger;
  }

  /** A file that was deleted is made anew, a damaged one is replaced. If neither helps, this process counts alone. */
  #recover(file: string, code: string, reason: string): void {
    if (code === "SQLITE_READONLY_DBMOVED") return;
    if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
      for (const ending of ["", "-journal"]) rmSync(file + ending, { force: true });
      this.#hasCounted = true;
      return;
    }
    this.#file = null;
    const why = `${this.settings.statePath} cannot be used (${reason})`;
    const message = `${why}: requests of other brandapi processes are not counted in this run.`;
    this.events.onNotice?.({ message });
  }

  #quietly<T>(work: (ledger: RequestLog) => T): T | undefined {
    try {
      return this.#ledger ? work(this.#ledger) : undefined;
    } catch (error) {
      if (outsideCode(error) === "") throw error;
      return undefined;
    }
  }
}

/** Returns the code of SQLite's or the system's error; empty for a defect of this program. */
function outsideCode(error: unknown): string {
  const code = errorCode(error);
  return /^(SQLITE_|E[A-Z]+$)/.test(code) ? code : "";
}
