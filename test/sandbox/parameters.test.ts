import { expect, test } from "vitest";
import { endpoints } from "../../src/sandbox/endpoints.js";
import { ask, askAll, history, paths } from "./support.js";

const uuid = "0ba4632f-2fc3-459d-ad30-789a1584477e";
const many = (count: number) => Array.from({ length: count }, () => uuid).join(",");

const goodDates = [
  "2026-01-31",
  "2024-02-29",
  "2026-01-31T10:00:00Z",
  "2026-01-31T10:00Z",
  "2026-01-31T10:00:00.123Z",
  "2026-01-31T10:00:00.123456Z",
  "2026-01-31T23:59:59%2B00:00",
];
const badDates = [
  "",
  "yesterday",
  "2026-02-30",
  "2025-02-29",
  "2026-13-01",
  "2026-1-1",
  "20260101",
  "31-01-2026",
  "1767225600",
  "2026-01-31T10:00:00",
  "2026-01-31 10:00:00Z",
  "2026-01-31T24:00:00Z",
  "2026-01-31T10:60:00Z",
  "2026-01-31T10:00:00%2B02:00",
  "2026-01-31T10:00:00+00:00",
  "2026-01-31Z",
];
const paging = {
  page: {
    good: ["1", "2", "10000", "007"],
    bad: ["0", "-1", "10001", "1.5", "1e3", "x", "", "+1", " 1", "0x1"],
  },
  per_page: { good: ["1", "25", "100"], bad: ["0", "101", "-5", "ten", "", "2.0", "NaN"] },
};

type ParameterRules = Record<string, { good: string[]; bad: string[] }>;

/**
 * Valid and invalid values for each endpoint's parameters (see "Endpoints" in the API documentation). Lists that are
 * missing from this table accept only `page` and `per_page`.
 */
const documented: Record<string, ParameterRules> = {
  "/me": {},
  "/analytics/clicks": {
    start_date: { good: goodDates, bad: badDates },
    end_date: { good: goodDates, bad: badDates },
    group_by: { good: ["day", "week", "month"], bad: ["", "Day", "year", "day,week"] },
    host_id: {
      good: [uuid, uuid.toUpperCase()],
      bad: ["", "1", `${uuid}0`, many(2), uuid.replaceAll("-", "")],
    },
    limit: { good: ["1", "20", "100"], bad: ["0", "101", "", "a"] },
  },
  "/analytics/hosts": {
    ...paging,
    sort: {
      good: ["clicks", "buy_now_clicks", "actions", "sale_amount"],
      bad: ["", "orders", "Clicks", "sales"],
    },
    order: { good: ["asc", "desc"], bad: ["", "ASC", "down"] },
  },
  "/orders": {
    ...paging,
    start_date: { good: goodDates, bad: badDates },
    end_date: { good: goodDates, bad: badDates },
    status: {
      good: ["all", "active", "cancelled", "refunded"],
      bad: ["", "Active", "paid", "active,refunded"],
    },
  },
  "/opportunities": {
    ...paging,
    status: {
      good: ["DRAFT", "active", "Ready,proposed", "COMPLETED,DECLINED,ARCHIVED,ACTIVE"],
      bad: ["", "ACTIVE,", ",", "OPEN", "ACTIVE;READY", "ACTIVE, READY"],
    },
  },
  "/content": {
    ...paging,
    source: {
      good: ["deliverable", "upload", "upload,deliverable"],
      bad: ["", "Upload", "message", "upload,"],
    },
    media_type: {
      good: ["image", "video,audio", "document,other"],
      bad: ["", "images", "image,gif", "IMAGE"],
    },
    opportunity_id: { good: [uuid, many(2), many(50)], bad: ["", "x", many(51), `${uuid},`, `${uuid}%20`] },
    host_id: { good: [uuid, many(50)], bad: ["", "x", many(51), `,${uuid}`] },
    uploaded_after: { good: goodDates, bad: badDates },
    uploaded_before: { good: goodDates, bad: badDates },
    sort: { good: ["newest", "oldest"], bad: ["", "NEWEST", "asc"] },
  },
};

const rules: Record<string, ParameterRules> = Object.fromEntries(
  endpoints.filter(({ path }) => !path.includes("{")).map(({ path }) => [path, documented[path] ?? paging]),
);

test.each(Object.entries(rules).filter(([path]) => path !== "/me"))(
  "the sandbox endpoint %s accepts valid parameter values and rejects all others",
  (path, parameters) => {
    const statusOf = (query: string) => [query, ask(`${path}?${query}`).status];
    for (const [name, { good, bad }] of Object.entries(parameters)) {
      for (const value of good) expect(statusOf(`${name}=${value}`)).toEqual([`${name}=${value}`, 200]);
      for (const value of bad) expect(statusOf(`${name}=${value}`)).toEqual([`${name}=${value}`, 400]);
      const twice = `${name}=${good[0]}&${name}=${good[0]}`;
      expect(statusOf(twice)).toEqual([twice, 400]);
      const cased = `${name.toUpperCase()}=${good[0]}`;
      expect(statusOf(cased)).toEqual([cased, 400]);
    }
  },
);

test("every sandbox endpoint rejects unknown parameters, including those of other endpoints", () => {
  const values: Record<string, string> = { foo: "1", constructor: "1", ["__proto__"]: "1", brand_id: uuid };
  for (const parameters of Object.values(rules))
    for (const [name, { good }] of Object.entries(parameters)) values[name] = good[0] ?? "";
  for (const [path] of paths)
    for (const [name, value] of Object.entries(values))
      if (!rules[path]?.[name])
        expect([path, name, ask(`${path}?${name}=${value}`).status]).toEqual([path, name, 400]);
});

test("the sandbox returns 25 records per page by default, the same records with any page size, and empty pages past the end", () => {
  for (const path of ["/orders", "/content", "/roster", "/gifts", "/analytics/hosts", "/opportunities"]) {
    const { data, pagination } = ask(path);
    const total = pagination.total_items;
    expect(pagination).toEqual({
      page: 1,
      per_page: 25,
      total_items: total,
      total_pages: Math.ceil(total / 25),
      has_next: total > 25,
      has_prev: false,
    });
    expect(data).toHaveLength(Math.min(25, total));
    expect(ask(`${path}?page=9999`)).toMatchObject({
      data: [],
      pagination: { has_next: false, has_prev: true },
    });
    expect(askAll(path, {}, 45)).toEqual(askAll(path));
    expect(askAll(path)).toHaveLength(total);
  }
});

test("filters for /content in the sandbox can be combined and are exact at their boundaries", () => {
  const all = askAll("/content");
  expect(all).toHaveLength(400);
  const at = String(all[150]?.created_at);
  expect(askAll(`/content?uploaded_after=${at}`)).toEqual(all.filter((one) => String(one.created_at) >= at));
  expect(askAll(`/content?uploaded_before=${at}`)).toEqual(all.filter((one) => String(one.created_at) < at));
  expect(askAll("/content?sort=oldest")).toEqual(all.toReversed());
  const images = askAll("/content?media_type=image,audio&source=upload");
  expect(images).toEqual(
    all.filter((one) => one.source === "upload" && /image|audio/.test(String(one.media_type))),
  );
  const file = history.content.find(({ host, opportunity }) => host && opportunity);
  const [host, campaign] = [file?.host?.id, file?.opportunity?.id];
  const found = askAll(`/content?host_id=${host}&opportunity_id=${uuid},${campaign}`);
  expect(found).toEqual(
    history.content.filter((one) => one.host?.id === host && one.opportunity?.id === campaign),
  );
  expect(found.length).toBeGreaterThan(0);
});

test("the sandbox lists opportunities newest first, without details, and filters them by status regardless of case", () => {
  const all = askAll("/opportunities");
  expect(new Set(all.map(({ status }) => status)).size).toBe(7);
  const dates = all.map(({ created_at }) => String(created_at));
  expect(dates).toEqual(dates.toSorted().reverse());
  const some = askAll("/opportunities?status=active,Completed");
  expect(some).toEqual(all.filter(({ status }) => status === "ACTIVE" || status === "COMPLETED"));
  expect(all[0]).not.toHaveProperty("assignments");
});
