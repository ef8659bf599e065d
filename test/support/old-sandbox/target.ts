import type { IncomingMessage } from "node:http";

/** What a request is for. */
export interface Target {
  path: string;
  query: URLSearchParams;
}

/** Path and query exactly as they came: nothing is normalised, decoded or refused on the way. */
export function readTarget({ url = "/" }: Pick<IncomingMessage, "url">): Target {
  const end = url.indexOf("?");
  if (end < 0) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, end), query: new URLSearchParams(url.slice(end + 1)) };
}
