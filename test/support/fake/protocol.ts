import type { Behaviour } from "./behaviour.js";

/** Says whether a parameter's text is one that the document allows. */
type Rule = (text: string) => boolean;

const whole =
  (least: number, most: number): Rule =>
  (text) =>
    /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most;
const oneOf =
  (...values: string[]): Rule =>
  (text) =>
    values.includes(text);
const someOf =
  (...values: string[]): Rule =>
  (text) =>
    text.split(",").every((one) => values.includes(one));
const ids: Rule = (text) => text.split(",").every((one) => one.length > 0) && text.split(",").length <= 50;
const date: Rule = (text) =>
  /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]00:?00))?$/.test(text) &&
  !Number.isNaN(Date.parse(text));
const states = ["DRAFT", "READY", "PROPOSED", "ACTIVE", "COMPLETED", "DECLINED", "ARCHIVED"];

const paging = { page: whole(1, 10_000), per_page: whole(1, 100) };

/** The parameters of each endpoint: the API document, "Endpoints" and "Limits". */
const parameters: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  "/analytics/clicks": {
    start_date: date,
    end_date: date,
    group_by: oneOf("day", "week", "month"),
    host_id: (text) => text.length > 0,
    limit: whole(1, 100),
  },
  "/analytics/hosts": {
    ...paging,
    sort: oneOf("clicks", "buy_now_clicks", "actions", "sale_amount"),
    order: oneOf("asc", "desc"),
  },
  "/orders": {
    ...paging,
    start_date: date,
    end_date: date,
    status: oneOf("all", "active", "cancelled", "refunded"),
  },
  "/opportunities": {
    ...paging,
    status: (text) => text.split(",").every((one) => states.includes(one.toUpperCase())),
  },
  "/content": {
    ...paging,
    source: someOf("deliverable", "upload"),
    media_type: someOf("image", "video", "audio", "document", "other"),
    opportunity_id: ids,
    host_id: ids,
    uploaded_after: date,
    uploaded_before: date,
    sort: oneOf("newest", "oldest"),
  },
  "/roster": paging,
  "/recommendations": paging,
};

const scopes: readonly [start: string, scope: string][] = [
  ["/analytics/", "analytics:read"],
  ["/orders", "analytics:read"],
  ["/opportunities", "opportunities:read"],
  ["/content", "content:read"],
  ["/roster", "roster:read"],
  ["/recommendations", "recommendations:read"],
  ["/gifts", "gifts:read"],
  ["/codes", "codes:read"],
  ["/surveys", "surveys:read"],
];

export const allScopes: readonly string[] = [...new Set(scopes.map(([, scope]) => scope))];

/** The scope that a path needs; none for `/me` and for what does not exist. */
export function scopeOf(path: string): string | undefined {
  return scopes.find(([start]) => path.startsWith(start))?.[1];
}

/** Whether a request's parameters are all known, valid and given once. */
export function isAllowed(path: string, query: URLSearchParams, pagedUnshown: boolean): boolean {
  const isUnshown = ["/gifts", "/codes", "/surveys"].includes(path);
  const rules: Readonly<Record<string, Rule>> = parameters[path] ?? (isUnshown && pagedUnshown ? paging : {});
  const names = [...query.keys()];
  return (
    new Set(names).size === names.length && [...query].every(([name, text]) => rules[name]?.(text) === true)
  );
}

/** What a request's key deserves: the API document, "Authentication". */
export function keyStatus(headers: Headers, key: string): 200 | 400 | 401 {
  if (headers.has("x-api-key")) return 400;
  return headers.get("authorization") === `Bearer ${key}` ? 200 : 401;
}

/** A 200 in the envelope; `members` is the text of `data` and `pagination`. */
export function success(members: string): Response {
  return new Response(`{"success":true,${members},"_timing":{"duration_ms":1}}`, {
    headers: { "content-type": "application/json" },
  });
}

/** A refusal; the document shows no body. */
export function refused(status: number, retryAfter?: string): Response {
  return new Response(null, {
    status,
    headers: {
      ...(status === 401 && { "www-authenticate": "Bearer" }),
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    },
  });
}

/** What `fetch` throws when a connection breaks off. */
export function broken(message: "fetch failed" | "terminated", code: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(code), { code }) });
}

/** An answer whose second half never comes. */
export function cut(text: string): Response {
  const bytes = new TextEncoder().encode(text);
  let sent = false;
  return new Response(
    new ReadableStream({
      pull(stream) {
        if (sent) stream.error(broken("terminated", "UND_ERR_SOCKET"));
        else stream.enqueue(bytes.subarray(0, Math.ceil(bytes.length / 2)));
        sent = true;
      },
    }),
  );
}

/** A page of a list: the rows as they are now, the total as the API says it; null where there is no such page. */
export function pageOf(
  texts: (from: number, to: number) => string[],
  items: number,
  asked: Readonly<Record<string, string>>,
  behaviour: Behaviour,
): string | null {
  const total = Math.min(items, behaviour.mostCounted);
  const page = Number(asked.page ?? 1);
  const perPage = Math.min(Number(asked.per_page ?? 25), behaviour.mostPerPage);
  const pages = Math.max(Math.ceil(total / perPage), behaviour.pagesOfNone);
  const isPast = page > Math.max(1, pages);
  if (isPast && behaviour.pastEnd === "refused") return null;
  const pagination = {
    page,
    per_page: perPage,
    total_items: total,
    total_pages: pages,
    has_next: page < pages,
    has_prev: page > 1,
  };
  const rows = texts((page - 1) * perPage, page * perPage);
  return `"data":[${rows.join(",")}],"pagination":${JSON.stringify(pagination)}`;
}
