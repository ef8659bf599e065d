import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import type { Behaviour } from "./fake/behaviour.js";
import { clientOf, type FakeApi, type FakeFault, fakeApi } from "./fake-api.js";
import { anOrder } from "./mirror.js";

interface Body {
  data: JsonObject[];
  pagination: Record<string, number | boolean>;
}

async function ask(api: FakeApi, pathAndQuery: string): Promise<Response> {
  return await api.fetch(`${api.baseUrl}${pathAndQuery}`, {
    headers: { authorization: `Bearer ${api.key}` },
  });
}

async function list(api: FakeApi, pathAndQuery: string): Promise<Body> {
  return (await (await ask(api, pathAndQuery)).json()) as Body;
}

async function ids(api: FakeApi, pathAndQuery: string): Promise<unknown[]> {
  return (await list(api, pathAndQuery)).data.map(({ id }) => id);
}

/** Orders of these dates, the first of them first to be attributed. */
function orders(dates: readonly (string | null)[], behaviour: Partial<Behaviour> = {}): FakeApi {
  return fakeApi(
    { orders: dates.map((order_date, n) => anOrder(n, { id: `o${n}`, order_date })) },
    behaviour,
  );
}

describe("what the document fixes", () => {
  test.each([
    ["/orders?pages=1", 400],
    ["/orders?page=0", 400],
    ["/orders?page=10001", 400],
    ["/orders?per_page=101", 400],
    ["/orders?status=open", 400],
    ["/orders?start_date=soon", 400],
    ["/orders?page=1&page=2", 400],
    ["/roster?status=active", 400],
    ["/content?sort=newest&media_type=image,video", 200],
    ["/content?uploaded_before=2026-01-01", 200],
    ["/content?sort=size", 400],
    ["/me?page=1", 400],
    ["/opportunities?status=active,draft", 200],
    ["/opportunities/none", 404],
    ["/nothing", 404],
  ])("%s is answered with %i", async (path, status) => {
    expect((await ask(fakeApi(), path)).status).toBe(status);
  });

  test("a key must be there and go in its header", async () => {
    const api = fakeApi();
    expect((await api.fetch(`${api.baseUrl}/me`)).status).toBe(401);
    expect((await api.fetch(`${api.baseUrl}/me`, { headers: { "x-api-key": api.key } })).status).toBe(400);
    api.scopes = ["roster:read"];
    expect((await ask(api, "/orders")).status).toBe(403);
  });

  test("orders are newest first, with both ends of a range in it; content's later end is not", async () => {
    const api = orders(["2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-02T00:00:00.000001Z"]);
    api.records.content = api.records.orders.map((one) => ({
      ...(one as JsonObject),
      created_at: (one as JsonObject).order_date ?? null,
    }));
    expect(await ids(api, "/orders")).toEqual(["o1", "o2", "o0"]);
    expect(await ids(api, "/orders?end_date=2026-01-02T00:00:00Z")).toEqual(["o0"]);
    expect(await ids(api, "/orders?start_date=2026-01-03T00:00:00Z&end_date=2026-01-03")).toEqual(["o1"]);
    expect(await ids(api, "/content?uploaded_before=2026-01-03T00:00:00Z&sort=oldest")).toEqual(["o0", "o2"]);
  });

  test("a page says how many there are, also where it holds fewer than were asked for", async () => {
    const api = orders(["2026-01-01", "2026-01-02", "2026-01-03"], { mostPerPage: 2 });
    const { data, pagination } = await list(api, "/orders?per_page=100&page=2");
    expect(data).toHaveLength(1);
    expect(pagination).toEqual({
      page: 2,
      per_page: 2,
      total_items: 3,
      total_pages: 2,
      has_next: false,
      has_prev: true,
    });
  });

  test("records that are texts come to the letter", async () => {
    const api = fakeApi({ gifts: ['{"id":9007199254740993,"price":1.50}'] });
    expect(await (await ask(api, "/gifts")).text()).toContain('[{"id":9007199254740993,"price":1.50}]');
  });
});

describe("what it leaves open", () => {
  test("dates are cut to what is shown, and filtered by all that is kept", async () => {
    const api = orders(["2026-01-02T03:04:05.123900Z"], { shows: "milliseconds" });
    expect((await list(api, "/orders")).data[0]?.order_date).toBe("2026-01-02T03:04:05.123Z");
    expect(await ids(api, "/orders?end_date=2026-01-02T03:04:05.123Z")).toEqual([]);
    api.behaviour.shows = "days";
    expect((await list(api, "/orders")).data[0]?.order_date).toBe("2026-01-02");
  });

  test("records without a date are in every range or in none", async () => {
    const api = orders([null, "2026-01-02"], { undatedStand: "first" });
    expect(await ids(api, "/orders")).toEqual(["o0", "o1"]);
    expect(await ids(api, "/orders?start_date=2026-01-01")).toEqual(["o1"]);
    api.behaviour.undated = "everywhere";
    expect(await ids(api, "/orders?start_date=2026-01-01")).toEqual(["o0", "o1"]);
  });

  test("equal dates can stand in another order at each request", async () => {
    const api = orders(Array(12).fill("2026-01-02"), { ties: "changing" });
    expect(await ids(api, "/orders")).not.toEqual(await ids(api, "/orders"));
  });

  test("a total that lags is right again at the next request", async () => {
    const api = orders(["2026-01-01"], { lags: "totals" });
    await list(api, "/orders");
    api.records.orders.push(anOrder(7));
    expect((await list(api, "/orders")).pagination.total_items).toBe(1);
    expect((await list(api, "/orders")).pagination.total_items).toBe(2);
  });

  test("figures by day follow from the orders: gross or net, cancelled in or out", async () => {
    const api = orders(["2026-01-01", "2026-01-01"]);
    Object.assign(api.records.orders[0] as JsonObject, { total_amount: 10, refund_amount: 4 });
    Object.assign(api.records.orders[1] as JsonObject, { total_amount: 5, is_cancelled: true });
    const day = async () => {
      const { data } = (await (await ask(api, "/analytics/clicks")).json()) as {
        data: { timeseries: JsonObject[] };
      };
      return data.timeseries[0];
    };
    expect(await day()).toMatchObject({ date: "2026-01-01", orders: 2, revenue: 15 });
    Object.assign(api.behaviour, { revenue: "net", cancelled: "out" });
    expect(await day()).toMatchObject({ orders: 1, revenue: 6 });
  });

  test("`refunded` can mean any refund, and states can overlap", async () => {
    const api = orders(["2026-01-01"]);
    Object.assign(api.records.orders[0] as JsonObject, { refund_amount: 4 });
    expect(await ids(api, "/orders?status=refunded")).toEqual([]);
    api.behaviour.refunded = "any";
    expect(await ids(api, "/orders?status=refunded")).toEqual(["o0"]);
    expect(await ids(api, "/orders?status=active")).toEqual([]);
    api.behaviour.statuses = "overlap";
    expect(await ids(api, "/orders?status=active")).toEqual(["o0"]);
  });
});

test.each<FakeFault>([{ status: 503 }, { status: 429, retryAfter: "1" }, "reset", "cut", "html"])(
  "the program's client goes on after a fault: %j",
  async (fault) => {
    const api = orders(["2026-01-01"]);
    api.before = ({ number }) => (number === 1 ? fault : undefined);
    let now = 0;
    const clock = {
      now: Date.now,
      monotonic: () => now,
      async sleep(ms: number) {
        now += ms;
      },
    };
    const client = clientOf(api, { clock });
    expect((await client.get("/orders")).pagination?.total_items).toBe(1);
    expect(api.asked.map(({ path }) => path)).toEqual(["/orders", "/orders"]);
    client.close();
  },
);
