import { describe, expect, test } from "vitest";
import { ask, askAll, endpointsOf, sandboxOf } from "./support.js";

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

/** Every documented parameter, with values at and beyond its rule: API document, Endpoints. */
const rules: Record<string, Record<string, { good: string[]; bad: string[] }>> = {
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
  "/roster": paging,
  "/recommendations": paging,
  "/gifts": paging,
  "/codes": paging,
  "/surveys": paging,
};

describe("parameters", () => {
  for (const [path, parameters] of Object.entries(rules)) {
    test(`${path} takes each of its parameters within its rule, and refuses the rest with 400`, async () => {
      const sandbox = await sandboxOf();
      for (const [name, { good, bad }] of Object.entries(parameters)) {
        for (const value of good) {
          const query = `${name}=${value}`;
          expect([query, (await ask(sandbox, `${path}?${query}`)).status]).toEqual([query, 200]);
        }
        for (const value of bad) {
          const query = `${name}=${value}`;
          expect([query, (await ask(sandbox, `${path}?${query}`)).status]).toEqual([query, 400]);
        }
        const twice = `${name}=${good[0]}&${name}=${good[0]}`;
        expect([twice, (await ask(sandbox, `${path}?${twice}`)).status]).toEqual([twice, 400]);
        const cased = `${name.toUpperCase()}=${good[0]}`;
        expect([cased, (await ask(sandbox, `${path}?${cased}`)).status]).toEqual([cased, 400]);
      }
    });
  }

  test("every endpoint refuses a parameter that belongs to another endpoint or to none", async () => {
    const sandbox = await sandboxOf();
    const values: Record<string, string> = { foo: "1", constructor: "1", ["__proto__"]: "1", brand_id: uuid };
    for (const parameters of Object.values(rules)) {
      for (const [name, { good }] of Object.entries(parameters)) values[name] = good[0] ?? "";
    }
    for (const { path } of await endpointsOf(sandbox)) {
      for (const [name, value] of Object.entries(values)) {
        if (rules[path]?.[name]) continue;
        const { status } = await ask(sandbox, `${path}?${name}=${value}`);
        expect([path, name, status]).toEqual([path, name, 400]);
      }
    }
  });

  test("without parameters a page is the first 25", async () => {
    const sandbox = await sandboxOf();
    for (const path of Object.keys(rules)) {
      const { json } = await ask(sandbox, path);
      if (!json.pagination) continue;
      expect([path, json.pagination.page, json.pagination.per_page]).toEqual([path, 1, 25]);
      expect(json.data).toHaveLength(Math.min(25, json.pagination.total_items));
    }
  });

  test("what the document does not show can be unpaginated, lax, and numbered", async () => {
    const strict = await sandboxOf({ undocumented: { paginated: false } });
    const lax = await sandboxOf({ undocumented: { paginated: false, strict: false, ids: "number" } });
    for (const path of ["/gifts", "/codes", "/surveys"]) {
      expect((await ask(strict, `${path}?page=1`)).status).toBe(400);
      const bare = await ask(strict, path);
      expect(Object.keys(bare.json)).toEqual(["success", "data", "_timing"]);
      const { json } = await ask(lax, `${path}?page=2&anything=goes`);
      expect(json.data).toHaveLength(bare.json.data.length);
      expect(json.data.every(({ id }: { id: unknown }) => Number.isInteger(id))).toBe(true);
    }
    const [survey] = (await ask(lax, "/surveys")).json.data;
    expect((await ask(lax, `/surveys/${survey.id}/results`)).json.data.survey_id).toBe(survey.id);
    expect((await ask(lax, "/orders?anything=goes")).status).toBe(400);
  });

  test("content filters combine, and are exact at their boundaries", async () => {
    const sandbox = await sandboxOf();
    const all = await askAll(sandbox, "/content");
    expect(all).toHaveLength(400);
    const at = String(all[150]?.created_at);
    const after = await askAll(sandbox, `/content?uploaded_after=${at}`);
    const before = await askAll(sandbox, `/content?uploaded_before=${at}`);
    expect(after).toEqual(all.filter((item) => String(item.created_at) >= at));
    expect(before).toEqual(all.filter((item) => String(item.created_at) < at));
    const oldest = await askAll(sandbox, "/content?sort=oldest");
    expect(oldest).toEqual([...all].reverse());
    const images = await askAll(sandbox, "/content?media_type=image,audio&source=upload");
    expect(images).toEqual(
      all.filter((one) => one.source === "upload" && /image|audio/.test(String(one.media_type))),
    );
    const nested = all.find((item) => item.host && item.opportunity) as {
      host: { id: string };
      opportunity: { id: string };
    };
    const found = await askAll(
      sandbox,
      `/content?host_id=${nested.host.id}&opportunity_id=${uuid},${nested.opportunity.id}`,
    );
    expect(found).toEqual(
      all.filter(
        (item) =>
          (item.host as { id: string } | null)?.id === nested.host.id &&
          (item.opportunity as { id: string } | null)?.id === nested.opportunity.id,
      ),
    );
    expect(found.length).toBeGreaterThan(0);
  });

  test("opportunities are filtered by state without regard to case, newest first", async () => {
    const sandbox = await sandboxOf();
    const all = await askAll(sandbox, "/opportunities");
    expect(new Set(all.map(({ status }) => status)).size).toBe(7);
    const dates = all.map(({ created_at }) => String(created_at));
    expect(dates).toEqual([...dates].sort().reverse());
    const some = await askAll(sandbox, "/opportunities?status=active,Completed");
    expect(some).toEqual(all.filter(({ status }) => status === "ACTIVE" || status === "COMPLETED"));
  });
});
