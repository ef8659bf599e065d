import type { Dataset } from "./data/dataset.js";
import type { KeyRecord, Scope } from "./keys.js";
import { type Pagination, pagination, type Query, type Rules } from "./rules.js";

/** What an endpoint answers with: becomes `data` and `pagination` of the envelope. */
export interface Reply {
  data: unknown;
  pagination?: Pagination;
}

export interface Asked<R extends Rules> {
  data: Dataset;
  key: KeyRecord;
  query: Query<R>;
  /** The parts of the path that stand for `{…}`, in order. */
  params: readonly string[];
}

/** One row of the document's table of endpoints. */
export interface Endpoint {
  path: string;
  /** undefined: none needed. */
  scope: Scope | undefined;
  /** Whether it needs the plan feature Analytics. */
  plan: boolean;
  rules: Rules;
  /** False: parameters without a rule are ignored. Only what the document does not show may be so. */
  strict: boolean;
  answer(asked: Asked<Rules>): Reply;
}

export interface EndpointDraft<R extends Rules> {
  path: string;
  scope?: Scope;
  plan?: boolean;
  rules: R;
  strict?: boolean;
  answer(asked: Asked<R>): Reply;
}

/** Declares an endpoint: `query` in `answer` has the types of its `rules`. */
export function endpoint<R extends Rules>(draft: EndpointDraft<R>): Endpoint {
  return {
    path: draft.path,
    scope: draft.scope,
    plan: draft.plan ?? false,
    rules: draft.rules,
    strict: draft.strict ?? true,
    answer: (asked) => draft.answer(asked as Asked<R>),
  };
}

/** One page of a list that is held whole. Past the end: an empty page. */
export function pageOf<T, U>(
  list: readonly T[],
  { page, per_page }: { page: number; per_page: number },
  record: (item: T) => U,
): Reply & { data: U[] } {
  const start = (page - 1) * per_page;
  return {
    data: list.slice(start, start + per_page).map(record),
    pagination: pagination(page, per_page, list.length),
  };
}

/** The parts of `path` that stand for `{…}` in `pattern`, or undefined where it does not match. */
export function match(pattern: string, path: string): string[] | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: string[] = [];
  for (const [place, part] of wanted.entries()) {
    const text = given[place] ?? "";
    if (!part.startsWith("{")) {
      if (part !== text) return undefined;
    } else if (text === "") return undefined;
    else params.push(text);
  }
  return params;
}
