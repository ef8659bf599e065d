export interface RequestOptions {
  /** By default `GET`. */
  method?: "POST";
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** The parts of an answer that the program uses. A `Response` of Node's own `fetch` has them, too. */
export interface Reply {
  status: number;
  /** Names are asked for in lower case. */
  headers: Pick<Headers, "get">;
  /** Decompressed. The part that is not read ends with the request's signal. */
  body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request and resolves when the answer's headers are here. Redirects are not followed. */
export type Fetch = (url: string | URL, options?: RequestOptions) => Promise<Reply>;
