import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../deps.js";
import { codeOf } from "../lib/failures.js";
import { loadSqlite } from "../lib/sqlite.js";
import { held } from "./giving-up.js";
import { endless, Ledger, type Wait } from "./ledger.js";
import type { ApiEvents, ApiSettings } from "./requesting.js";
import type { ServerLimit } from "./server-limit.js";

/** Milliseconds until the file is looked at again: an answer may have come meanwhile, or the file may be gone. */
const lookAgainMs = 1_000;

/**
 * Keeps the requests of all processes of this machine within the API's limits (API document, Limits): a sliding window in
 * one SQLite file, in which bursts pass while the budget lasts. A request counts until a window after its answer's headers
 * came, because by then the server has counted it.
 */
export class Budget {
  /** The file that all processes count in; null if this process counts alone. */
  #file: string | null;
  #ledger: Ledger | null = null;
  /** True once requests were counted that a new file knows nothing of. */
  #hasCounted = false;

  constructor(
    private readonly settings: ApiSettings,
    private readonly clock: Clock,
    private readonly events: Pick<ApiEvents, "onNotice" | "onWait">,
  ) {
    this.#file = settings.rateLimit === null ? null : join(settings.statePath, "rate.sqlite");
  }

  /**
   * Waits for a permit, on the server's word for `patienceMs` at most.
   * @returns its id
   * @throws the signal's reason, or ApiUnavailable if the patience does not reach
   */
  async take(signal: AbortSignal, patienceMs = Number.POSITIVE_INFINITY): Promise<number> {
    const Sqlite = await loadSqlite();
    let [toldMs, isSaid] = [0, false];
    for (;;) {
      signal.throwIfAborted();
      const permit = this.#try(Sqlite);
      if (typeof permit === "number") return permit;
      const { ms, told } = permit;
      if (told && toldMs + ms > patienceMs) throw held(ms, this.clock.now());
      if (!isSaid && ms > 0) this.events.onWait?.({ ms, reason: told ? "server" : "budget" });
      isSaid ||= ms > 0;
      const sleepMs = Math.min(ms, lookAgainMs);
      if (told) toldMs += sleepMs;
      await this.clock.sleep(sleepMs, signal);
    }
  }

  /** The headers of an answer came, or its request failed. If that cannot be written, the request only counts longer. */
  answered(id: number, server: ServerLimit | null): void {
    this.#quietly((ledger) => ledger.answered(id, this.clock.monotonic(), server));
  }

  /** Sends nothing with this key for `ms` milliseconds, in any process. */
  hold(ms: number): void {
    this.#quietly((ledger) => ledger.hold(this.clock.monotonic(), ms));
  }

  close(): void {
    this.#ledger?.close();
    this.#ledger = null;
  }

  /** One look at the file, in whatever state it is. */
  #try(Sqlite: Awaited<ReturnType<typeof loadSqlite>>): number | Wait {
    try {
      this.#ledger ??= this.#open(Sqlite);
      return this.#ledger.take(() => this.clock.monotonic());
    } catch (error) {
      const code = outsideCode(error);
      if (this.#file === null || code === "") throw error;
      this.close();
      this.#recover(this.#file, code);
      return { ms: 0, told: 0 };
    }
  }

  /** Opens the file. If requests were counted in a file that is lost, the new one begins with its whole window used. */
  #open(Sqlite: Awaited<ReturnType<typeof loadSqlite>>): Ledger {
    const { baseUrl, key, rateLimit, windowMs = 60_000 } = this.settings;
    const account = { origin: new URL(baseUrl).origin, key: createHash("sha256").update(key).digest("hex") };
    const ledger = new Ledger(Sqlite, this.#file, { ...account, limit: rateLimit ?? endless, windowMs });
    if (this.#hasCounted) ledger.spend(this.clock.monotonic());
    this.#hasCounted = true;
    return ledger;
  }

  /** A file that was deleted is made anew, a damaged one is replaced. If neither helps, this process counts alone. */
  #recover(file: string, code: string): void {
    if (code === "SQLITE_READONLY_DBMOVED") return;
    if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
      for (const ending of ["", "-journal"]) rmSync(file + ending, { force: true });
      this.#hasCounted = true;
      return;
    }
    this.#file = null;
    const why = `${this.settings.statePath} cannot be used (${code})`;
    const message = `${why}: requests of other brandapi processes are not counted in this run.`;
    this.events.onNotice?.({ message });
  }

  #quietly(work: (ledger: Ledger) => void): void {
    try {
      if (this.#ledger) work(this.#ledger);
    } catch (error) {
      if (outsideCode(error) === "") throw error;
    }
  }
}

/** Returns the code of SQLite's or the system's error; empty for a defect of this program. */
function outsideCode(error: unknown): string {
  const code = codeOf(error);
  return /^(SQLITE_|E[A-Z]+$)/.test(code) ? code : "";
}
