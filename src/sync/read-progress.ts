import type { ApiClient } from "../api/client.js";
import { addReadRows } from "../store/state/runs.js";
import type { Task } from "../util/reporter.js";
import type { SyncSession } from "./session.js";

/** Counts the rows and responses of a run, for its row in `sync_runs` and for the progress bar. */
export class ReadProgress {
  #responses = 0;
  #rows = 0;
  readonly #before: Readonly<ApiClient["stats"]>;

  constructor(
    private readonly session: Pick<SyncSession, "api" | "mirror">,
    private readonly runId: number,
    private readonly task: Task,
  ) {
    this.#before = { ...session.api.stats };
  }

  /** Adds returned rows to the row of the run. Must be called in the transaction that writes the records. */
  addRows(rows: number): void {
    const { api, mirror } = this.session;
    const requests = api.stats.requests - this.#before.requests;
    const retries = api.stats.retries - this.#before.retries;
    this.#rows += rows;
    addReadRows(mirror, this.runId, { rows, requests, retries });
  }

  get rows(): number {
    return this.#rows;
  }

  /** Advances the progress bar by one response. @param remaining the expected number of further requests */
  advance(remaining: number): void {
    this.#responses += 1;
    this.task.update({ done: this.#responses, total: this.#responses + Math.max(0, remaining) });
  }

  /** True if the API returned at least one response with data. */
  hasResponses(): boolean {
    return this.#responses > 0;
  }
}
