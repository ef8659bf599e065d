import { createHash } from "node:crypto";
import type { Clock, Deps } from "../deps.js";
import { freeGovernor } from "./free-governor.js";
import { held, noPlaceInTime } from "./giving-up.js";
import type { Governor, GovernorEvents, GovernorSettings, Patience, Permit } from "./governing.js";
import type { Stamp, Verdict, Wait } from "./ledger.js";
import {
  type LedgerFile,
  ledgerPath,
  openLedgerFile,
  openLedgerInMemory,
  removeLedgerFile,
} from "./ledger-file.js";

export function openGovernor(
  settings: GovernorSettings,
  deps: Pick<Deps, "clock">,
  events: GovernorEvents = {},
): Governor {
  if (settings.rateLimit === null) return freeGovernor(deps.clock, events);
  return new SharedGovernor(settings, settings.rateLimit, deps.clock, events);
}

/** A request that this process sent: kept here too, for when the file is deleted. */
interface Sent {
  id: number;
  sent: Stamp;
  done: Stamp | null;
}

/** Tries at a locked file, some milliseconds apart, before this process counts for itself. */
const busyTries = 100;

class SharedGovernor implements Governor {
  readonly #windowMs: number;
  readonly #kept: number;
  #file: LedgerFile | null = null;
  #opening: Promise<LedgerFile> | null = null;
  #alone = false;
  #busy = 0;
  #log: Sent[] = [];

  constructor(
    private readonly settings: GovernorSettings,
    private readonly limit: number,
    private readonly clock: Clock,
    private readonly events: GovernorEvents,
  ) {
    this.#windowMs = settings.windowMs ?? 60_000;
    this.#kept = settings.kept ?? 0;
  }

  get file(): string | null {
    return this.#alone ? null : ledgerPath(this.settings.statePath);
  }

  async take(
    signal: AbortSignal,
    { serverMs = Number.POSITIVE_INFINITY, inAllMs = Number.POSITIVE_INFINITY }: Patience = {},
  ): Promise<Permit> {
    const kept = Number.isFinite(inAllMs) ? 0 : this.#kept;
    const until = this.clock.monotonic() + inAllMs;
    let said = false;
    let heldMs = 0;
    for (;;) {
      signal.throwIfAborted();
      const now = this.#now();
      const verdict = await this.#ask(now, kept);
      if ("id" in verdict) return this.#permit(verdict.id, now);
      const isTold = verdict.reason === "server";
      const leftMs = serverMs - heldMs;
      // Where nothing can change before patience ends, waiting for its end would be in vain.
      const hold = { ms: verdict.expectedMs, now: now.wall, file: this.file };
      if (isTold && verdict.waitMs > leftMs) throw held(hold);
      if (now.mono + hold.ms > until) throw isTold ? held(hold) : noPlaceInTime(hold.ms);
      if (!said && verdict.expectedMs > 0)
        this.events.onWait?.({ ms: verdict.expectedMs, reason: verdict.reason });
      said = true;
      if (isTold) heldMs += verdict.waitMs;
      await this.clock.sleep(verdict.waitMs, signal);
    }
  }

  hold(ms: number): void {
    this.#quietly(({ ledger }) => ledger.hold(this.#now(), ms));
  }

  fullForMs(): number | null {
    return this.#quietly(({ ledger }) => ledger.fullForMs(this.#now(), this.#kept)) ?? null;
  }

  close(): void {
    this.#file?.ledger.close();
    this.#file = null;
  }

  #permit(id: number, sent: Stamp): Permit {
    const entry: Sent = { id, sent, done: null };
    this.#log = this.#log.filter((each) => !each.done || sent.mono - each.done.mono < 2 * this.#windowMs);
    this.#log.push(entry);
    return {
      answered: (limit) => {
        const now = this.#now();
        entry.done = now;
        // Not written down, the permit is only given back later: slower, never faster.
        this.#quietly(({ ledger }) => ledger.answered(entry.id, now, limit));
      },
    };
  }

  /** One question to the ledger, come what may to its file. */
  async #ask(now: Stamp, kept: number): Promise<Verdict> {
    try {
      const verdict = (await this.#current()).ledger.take(now, kept);
      this.#busy = 0;
      return verdict;
    } catch (error) {
      return this.#recover(error);
    }
  }

  async #recover(error: unknown): Promise<Wait> {
    const code = codeOf(error);
    this.close();
    if (code.startsWith("SQLITE_BUSY") && this.#busy < busyTries) {
      this.#busy += 1;
      return { waitMs: 20, expectedMs: 0, reason: "budget" };
    }
    if ((code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) && !this.#alone) {
      await this.#replace();
      return { waitMs: 0, expectedMs: 0, reason: "budget" };
    }
    if (this.#alone || code === "") throw error;
    this.#alone = true;
    const why = `${this.settings.statePath} cannot be used (${code})`;
    this.events.onNotice?.({
      message: `${why}: requests of other brandapi processes are not counted in this run.`,
    });
    return { waitMs: 0, expectedMs: 0, reason: "budget" };
  }

  /** A damaged file tells nothing: a new one begins with the whole window taken as spent. */
  async #replace(): Promise<void> {
    try {
      removeLedgerFile(this.settings.statePath);
      (await this.#current()).ledger.hold(this.#now(), this.#windowMs, true);
    } catch (error) {
      if (codeOf(error) === "") throw error;
      this.close();
      this.#alone = true;
    }
  }

  /** The open ledger; opened anew when its file was deleted or replaced, with this process's own requests in it. */
  async #current(): Promise<LedgerFile> {
    if (this.#file?.isCurrent()) return this.#file;
    this.close();
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<LedgerFile> {
    const account = {
      origin: this.settings.origin,
      key: createHash("sha256").update(this.settings.key).digest("hex"),
    };
    const budget = { limit: this.limit, windowMs: this.#windowMs };
    const file = this.#alone
      ? await openLedgerInMemory(account, budget)
      : await openLedgerFile(this.settings.statePath, account, budget);
    for (const entry of this.#log) {
      if (!file.ledger.has(entry.id, entry.sent)) entry.id = file.ledger.record(entry.sent, entry.done);
    }
    this.#file = file;
    return file;
  }

  #quietly<T>(work: (file: LedgerFile) => T): T | undefined {
    try {
      return this.#file ? work(this.#file) : undefined;
    } catch (error) {
      if (codeOf(error) === "") throw error;
      return undefined;
    }
  }

  #now(): Stamp {
    return { mono: this.clock.monotonic(), wall: this.clock.now() };
  }
}

/** The code of SQLite's or the system's error; empty for a defect of this program. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" && /^(SQLITE_|E[A-Z]+$)/.test(code) ? code : "";
}
