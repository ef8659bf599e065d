import type { Brand } from "./brand.js";
import type { Doubts } from "./doubts.js";
import type { ApiKey } from "./keys.js";
import { type Query, type Rules, readQuery } from "./parameters.js";
import type { Reply } from "./reply.js";

/** What an endpoint answers from. */
export interface Asked<R extends Rules> {
  brand: Brand;
  key: ApiKey;
  query: Query<R>;
  /** The parts of the path that stand for `{…}`, in order. */
  params: readonly string[];
  doubts: Doubts;
  /** The file host's origin. */
  filesUrl: string;
  now: number;
}

/** One row of the document's table of endpoints. */
export interface Endpoint {
  path: string;
  /** Null: none needed. */
  scope: string | null;
  /** Whether it needs the plan feature Analytics. */
  plan: boolean;
  /** Throws a `Refusal` for an invalid query, or for an id that the brand does not have. */
  answer(asked: Omit<Asked<Rules>, "query">, query: URLSearchParams): Reply;
}

interface Draft<R extends Rules> {
  path: string;
  scope?: string;
  plan?: boolean;
  rules: R;
  /** True if this API takes no parameter here. */
  isBare?(doubts: Doubts): boolean;
  answer(asked: Asked<R>): Reply;
}

/** Declares an endpoint: `query` in `answer` has the types of its `rules`. */
export function endpoint<R extends Rules>(draft: Draft<R>): Endpoint {
  return {
    path: draft.path,
    scope: draft.scope ?? null,
    plan: draft.plan ?? false,
    answer(asked, given) {
      if (draft.isBare?.(asked.doubts)) readQuery({}, given);
      return draft.answer({ ...asked, query: readQuery(draft.rules, given) });
    },
  };
}

/** Returns the parts of `path` that stand for `{…}` in `pattern`; null if it does not match. */
export function match(pattern: string, path: string): string[] | null {
  const given = path.split("/");
  const wanted = pattern.split("/");
  const isVariable = (part: string) => part.startsWith("{");
  const matches = wanted.every((part, n) => (isVariable(part) ? given[n] !== "" : given[n] === part));
  return matches && wanted.length === given.length
    ? given.filter((_, n) => isVariable(wanted[n] ?? ""))
    : null;
}
