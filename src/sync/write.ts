import { openTransaction } from "../mirror/index.js";
import type { SyncRun } from "./run.js";

/** Answers that come faster than they are written share a transaction of at most so many milliseconds. */
const longestMs = 250;
/** Turns of the event loop until a request is sent: undici looks at an idle connection first. */
const turnsToSend = 2;
/** How long the next answer is waited for before a transaction is committed, in milliseconds. */
const patienceMs = 25;

/** Answers that are committed together. A kill costs what is not committed. */
export class Group {
  /** Commits the open transaction; null if none is open. */
  #commit: (() => void) | null = null;
  #openedAt = 0;

  constructor(private readonly run: Pick<SyncRun, "clock" | "mirror">) {}

  /** Writes one answer whole, or nothing of it. Commits unless the next answer comes at once. */
  async write(answer: () => void, next: Promise<unknown> | null): Promise<void> {
    const { clock, mirror } = this.run;
    // The next request goes out first: it is answered while this answer is written.
    for (let turn = 0; next && turn < turnsToSend; turn += 1) await clock.sleep(0);
    if (!this.#commit) this.#openedAt = clock.monotonic();
    this.#commit ??= openTransaction(mirror);
    mirror.transaction(answer);
    const isOld = clock.monotonic() - this.#openedAt >= longestMs;
    if (isOld || !next || !(await this.#comesSoon(next))) this.commit();
  }

  commit(): void {
    const commit = this.#commit;
    this.#commit = null;
    commit?.();
  }

  async #comesSoon(next: Promise<unknown>): Promise<boolean> {
    const came = Promise.allSettled([next]).then(() => true);
    return await Promise.race([came, this.run.clock.sleep(patienceMs).then(() => false)]);
  }
}
