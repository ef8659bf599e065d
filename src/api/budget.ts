import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../deps.js";
import { held, noPlaceInTime } from "./giving-up.js";
import { endless, type Ledger, type Wait } from "./ledger.js";
import { codeOf, type LedgerFile, ledgerOpener, removeLedgerFile } from "./ledger-file.js";
import type { ApiEvents } from "./requesting.js";
import type { ServerLimit } from "./server-limit.js";

export interface BudgetSettings {
  /** The API's origin: a sandbox on another port has a budget of its own. */
  origin: string;
  /** The key itself; only its SHA-256 is written down. */
  key: string;
  /** Requests per window for the key; the machine has twice as many. null: only what the server asks for counts. */
  limit: number | null;
  /** Requests of each window that are kept for commands that a person waits for. */
  kept: number;
  /** The folder of `rate.sqlite`. */
  folder: string;
  windowMs: number;
}

/** Milliseconds to wait for a permit: on the server's word, and in all. No end if left out. */
export interface Patience {
  serverMs?: number | undefined;
  /** Given if a person waits: an error comes at once if no permit comes in time, and kept permits may be used. */
  inAllMs?: number | undefined;
}

/** Milliseconds until the file is looked at again: an answer may have come meanwhile, or the file may be gone. */
const lookAgainMs = 1_000;
/** Tries at a file that another process holds, before this one counts alone, and the milliseconds between them. */
const [busyTries, busyAgainMs] = [100, 20];

/**
 * Keeps the requests of all processes of this machine within the API's limits (API document, Limits): a sliding window in
 * one SQLite file, in which bursts pass while the budget lasts. A request counts until a window after its answer's headers
 * came, because by then the server has counted it.
 */
export class Budget {
  /** The file that all processes count in; null if this process counts alone. */
  file: string | null;
  #open: LedgerFile | null = null;
  /** True once requests were counted that a new file knows nothing of. */
  #hasCounted = false;
  #busy = 0;

  constructor(
    private readonly settings: BudgetSettings,
    private readonly clock: Clock,
    private readonly events: Pick<ApiEvents, "onNotice" | "onWait">,
  ) {
    this.file = settings.limit === null ? null : join(settings.folder, "rate.sqlite");
  }

  /** Waits for a permit. @returns its id @throws the signal's reason, or ApiUnavailable if patience does not reach */
  async take(signal: AbortSignal, patience: Patience = {}): Promise<number> {
    const { serverMs = Number.POSITIVE_INFINITY, inAllMs = Number.POSITIVE_INFINITY } = patience;
    const kept = Number.isFinite(inAllMs) ? 0 : this.settings.kept;
    const until = this.clock.monotonic() + inAllMs;
    const open = await this.#opener();
    let toldMs = 0;
    let isSaid = false;
    for (;;) {
      signal.throwIfAborted();
      const permit = this.#try(open, kept);
      if (typeof permit === "number") return permit;
      const { ms, told } = permit;
      const hold = { ms, now: this.clock.now(), file: this.file };
      if (told && toldMs + ms > serverMs) throw held(hold);
      if (this.clock.monotonic() + ms > until) throw told ? held(hold) : noPlaceInTime(ms);
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
    this.#open?.ledger.close();
    this.#open = null;
  }

  /** One look at the file, in whatever state it is. */
  #try(open: (file: string | null) => LedgerFile, kept: number): number | Wait {
    try {
      const permit = this.#current(open).take(() => this.clock.monotonic(), kept);
      this.#busy = 0;
      return permit;
    } catch (error) {
      const code = codeOf(error);
      if (this.file === null || code === "") throw error;
      this.#busy += 1;
      if (code.startsWith("SQLITE_BUSY") && this.#busy < busyTries) return { ms: busyAgainMs, told: 0 };
      this.close();
      this.#recover(this.file, code);
      return { ms: 0, told: 0 };
    }
  }

  /** Returns the open file. If it was deleted or replaced, a new one begins with its whole window used. */
  #current(open: (file: string | null) => LedgerFile): Ledger {
    if (this.#open?.isCurrent()) return this.#open.ledger;
    this.close();
    const opened = open(this.file);
    if (this.#hasCounted) opened.ledger.spend(this.clock.monotonic());
    this.#open = opened;
    this.#hasCounted = true;
    return opened.ledger;
  }

  #recover(file: string, code: string): void {
    const isDamaged = code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT");
    if (isDamaged && removeLedgerFile(file)) {
      this.#hasCounted = true;
      return;
    }
    this.file = null;
    const why = `${this.settings.folder} cannot be used (${code})`;
    const message = `${why}: requests of other brandapi processes are not counted in this run.`;
    this.events.onNotice?.({ message });
  }

  #opener() {
    const { key, limit, origin, windowMs } = this.settings;
    const account = { origin, key: createHash("sha256").update(key).digest("hex") };
    return ledgerOpener(account, limit ?? endless, windowMs);
  }

  #quietly(work: (ledger: Ledger) => void): void {
    try {
      if (this.#open) work(this.#open.ledger);
    } catch (error) {
      if (codeOf(error) === "") throw error;
    }
  }
}
