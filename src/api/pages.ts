import { isDeepStrictEqual } from "node:util";
import { NotFound, RequestRefused, UnexpectedAnswer } from "../errors.js";
import type { ApiRecord, Query } from "../resources/types.js";
import type { Answer, ApiClient, Pagination, RequestOptions } from "./client.js";

export interface Page {
  /** Its number, as asked for. */
  page: number;
  /** The reader's until it asks for the next page: then the list is emptied. */
  records: ApiRecord[];
  pagination: Pagination;
  /** Milliseconds since 1970 when it was asked for. */
  askedAt: number;
}

export type PagesOptions = Pick<RequestOptions, "scope" | "signal" | "recognise">;

/** The API document, Limits: pages beyond this one cannot be asked for. */
export const lastPage = 10_000;

/** Most requests at once. */
const inFlight = 4;

/** Announced pages in a row that may be empty: a list that is announced for ever ends here. */
const mostEmpty = 10;

/**
 * Reads a list page by page, in order: the first alone, then up to `inFlight` at once. Asks for no page that the
 * latest answer did not announce, so a list that shrinks meanwhile just ends. Throws `UnexpectedAnswer` when the
 * pages cannot be a list: the wrong page, the same page twice, a next page after the last.
 */
export async function* readPages(
  api: ApiClient,
  path: string,
  query: Query,
  options: PagesOptions = {},
): AsyncGenerator<Page, void, undefined> {
  const reading = new Reading(api, path, query, options);
  try {
    let previous: readonly string[] = [];
    let empty = 0;
    for (let page = 1; page <= Math.min(lastPage, reading.announced); page += 1) {
      reading.ask(page);
      const answer = await reading.answerTo(page);
      if (!answer) return;
      // The next ones are on their way while this one is put away.
      reading.ask(page + 1);
      const texts = answer.records.map(({ json }) => json);
      if (texts.length >= answer.pagination.per_page && isDeepStrictEqual(texts, previous))
        throw unexpected(path, `repeats page ${page - 1} as page ${page}`);
      previous = texts;
      empty = texts.length === 0 ? empty + 1 : 0;
      if (empty > mostEmpty)
        throw unexpected(path, `has nothing on page ${page}, nor on the ${mostEmpty} before`);
      yield answer;
      // The answer itself stays reachable for a while, from promises that have lived long; its records need not.
      answer.records.length = 0;
    }
  } finally {
    reading.end();
  }
}

/** A request under way, and what lets its answer be taken apart. */
interface Asked {
  answer: Promise<Page | null>;
  take(): void;
}

/** An answer that came early waits as bytes until the reader has come to it: as records it would fill the memory. */
export function newTurn(): { come: Promise<void>; take(): void } {
  let take = () => {};
  const come = new Promise<void>((resolve) => {
    take = resolve;
  });
  return { come, take };
}

class Reading {
  /** The last page, as the latest answer announced it. */
  announced = 1;
  readonly #asked = new Map<number, Asked>();
  readonly #stop = new AbortController();
  readonly #forward = () => this.#stop.abort(this.options.signal?.reason);

  constructor(
    private readonly api: ApiClient,
    private readonly path: string,
    private readonly query: Query,
    private readonly options: PagesOptions,
  ) {
    if (options.signal?.aborted) this.#forward();
    options.signal?.addEventListener("abort", this.#forward, { once: true });
  }

  /** Keeps requests for `page` and what follows it under way, as far as announced and allowed at once. */
  ask(page: number): void {
    const last = Math.min(lastPage, this.announced);
    for (let each = page; each <= last && each < page + inFlight; each += 1) {
      if (this.#asked.has(each)) continue;
      const turn = newTurn();
      const answer = this.#get(each, turn.come);
      // Whoever waits for it hears of its failure; one that nobody waits for any more fails in silence.
      answer.catch(() => {});
      this.#asked.set(each, { answer, take: turn.take });
    }
  }

  /** The answer to a page asked for; `null` when the list has meanwhile become too short to have it. */
  async answerTo(page: number): Promise<Page | null> {
    const asked = this.#asked.get(page);
    asked?.take();
    const answer = await asked?.answer;
    this.#asked.delete(page);
    return answer ?? null;
  }

  end(): void {
    this.options.signal?.removeEventListener("abort", this.#forward);
    this.#stop.abort(new Error("nobody waits for this page any more"));
  }

  async #get(page: number, turn: Promise<void>): Promise<Page | null> {
    try {
      const answer = await this.#list(page, turn);
      const last = answer.pagination.total_pages;
      if (answer.page === page) return page > 1 && answer.records.length === 0 && last < page ? null : answer;
      // Some servers answer with their last page when asked beyond it.
      if (last < page) return null;
      throw unexpected(this.path, `is page ${answer.page} where page ${page} was asked for`);
    } catch (error) {
      const isRefusal = error instanceof RequestRefused || error instanceof NotFound;
      if (page === 1 || !isRefusal) throw error;
      // By then another page may have told that there is none.
      await turn;
      if (await this.#hasShrunk(page)) return null;
      if (!(error instanceof NotFound)) throw error;
      throw unexpected(this.path, `announces page ${page}, and nothing is there (${error.status})`);
    }
  }

  /** Whether a refused page is refused because the list is shorter by now: another answer says so, or page 1 does. */
  async #hasShrunk(page: number): Promise<boolean> {
    if (this.announced < page) return true;
    const first = await this.#list(1);
    return first.pagination.total_pages < page;
  }

  async #list(page: number, turn?: Promise<void>): Promise<Page> {
    const { recognise, scope } = this.options;
    const arrived = async (pagination: Pagination | null) => {
      // A page that waits for its turn tells at once how many there are: none is asked for that is gone by now.
      if (pagination) this.announced = pagination.total_pages;
      await turn;
    };
    const answer = await this.api.get(
      this.path,
      { ...this.query, page },
      { arrived, recognise, scope, signal: this.#stop.signal },
    );
    return listOf(this.path, answer);
  }
}

/** An answer as a page of a list. @throws UnexpectedAnswer when it is none */
function listOf(path: string, { items: records, pagination, askedAt }: Answer): Page {
  if (!records) throw unexpected(path, "is not a list");
  if (!pagination) throw unexpected(path, "has no `pagination`");
  if (pagination.has_next && pagination.page >= pagination.total_pages)
    throw unexpected(path, `says that page ${pagination.page} of ${pagination.total_pages} has a next one`);
  return { page: pagination.page, records, pagination, askedAt };
}

/** The same of page 1, asked for alone. */
export function firstPageOf(path: string, answer: Answer): Page {
  const list = listOf(path, answer);
  if (list.page !== 1) throw unexpected(path, `is page ${list.page} where page 1 was asked for`);
  return list;
}

function unexpected(path: string, what: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`The API's answer to ${path} ${what}.`, {
    hint: "run the command again; if it stays so, the API does not page as documented",
  });
}
