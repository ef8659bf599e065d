import { describe, expect, test } from "vitest";
import { details, resources } from "../../src/resources/index.js";
import { expectFaithful } from "../conformance/compare.js";
import type { InterceptedRequest } from "../support/old-sandbox/index.js";
import { type RunningProgram, spawnBrandapi } from "../support/process.js";
import {
  areWholeAnswers,
  asked,
  type Brand,
  brandForTest,
  byId,
  leftToRead,
  nthRead,
  type OrderSeen,
  ordersOf,
} from "./brand.js";

/** The machine's, as the processes have it that were stopped before. */
const theirClock = { clock: {} };

function start(brand: Brand, ...args: string[]): RunningProgram {
  return spawnBrandapi(args, { env: brand.env(), home: brand.home });
}

/** Sends a signal to the process when the request comes that `when` is waiting for. */
function signalAt(
  brand: Brand,
  program: RunningProgram,
  signal: NodeJS.Signals,
  when: (request: InterceptedRequest) => boolean,
) {
  brand.sandbox.intercept = (request) => {
    if (!when(request)) return;
    brand.sandbox.intercept = undefined;
    program.child.kill(signal);
  };
}

function expectOnlyWholeAnswers(brand: Brand): number {
  expect(brand.sql("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const held = brand.mirrored("orders").length;
  expect(areWholeAnswers(held), `${held} orders`).toBe(true);
  const items = brand.sql("SELECT count(*) AS n FROM orders")[0] as { n: number };
  expect(items.n).toBe(held);
  return held;
}

/** What is held was proven when it came: a run that goes on does not read it again. */
function expectOnlyWhatIsLeft(brand: Brand, left: ReturnType<typeof leftToRead>) {
  const { rows_read } = brand.lastRun("orders");
  expect(rows_read).toBeGreaterThanOrEqual(left.least);
  expect(rows_read).toBeLessThanOrEqual(left.most);
}

function expectEqualToApi(brand: Brand) {
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
}

describe("a first sync that is stopped", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s ends with %d after a clean stop, and the next one goes on there",
    async (signal, code) => {
      const brand = await brandForTest({ orders: 3_000, latencyMs: 20 });
      const program = start(brand, "sync", "orders");
      signalAt(brand, program, signal, nthRead("/orders", 16));
      const ended = await program.ended;
      expect(ended.code, ended.err).toBe(code);
      expect(ended.err).toContain("Stopped.\n  hint: what was done so far is kept");
      const held = expectOnlyWholeAnswers(brand);
      expect(held).toBeGreaterThanOrEqual(1_000);
      expect(brand.lastRun("orders")).toMatchObject({ outcome: "stopped" });

      const left = leftToRead(brand);
      const next = await brand.run("sync orders", theirClock);
      expect(next.code, next.err).toBe(0);
      expect(next.err).toMatch(
        /^orders: goes on with the read begun 20[-\d]+ [:\d]+: \d+ records already here\n/,
      );
      expect(next.err).toContain(`: ${held} records`);
      // What is held was proven when it came: it is not read again.
      expectOnlyWhatIsLeft(brand, left);
      // What the stopped one still asked for may be noted after its end.
      const own = next.requests.slice(next.requests.findIndex(({ path }) => path.endsWith("/me")));
      const reads = asked(own, "/orders").filter((query) => query.get("per_page") === "100");
      // One for what came since, one for the day on which it stopped, and as many as are left.
      expect(reads.length).toBeLessThanOrEqual(2 + Math.ceil((3_000 - held) / 99));
      expectEqualToApi(brand);
    },
  );

  test("tells with `--json` of its run, like every other, and of what ended it", async () => {
    const brand = await brandForTest({ orders: 1_000, latencyMs: 20 });
    const program = start(brand, "sync", "orders", "--json");
    signalAt(brand, program, "SIGTERM", nthRead("/orders", 4));
    const { code, out } = await program.ended;
    expect(code).toBe(143);
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { resource: "orders", outcome: "stopped", verified: false },
      { error: { code: "stopped" } },
    ]);
  });

  test("by `kill -9`, again and again, is finished by the runs after it, and never starts over", async () => {
    const brand = await brandForTest({ orders: 5_000, latencyMs: 100 });
    let held = 0;
    const moments = [
      nthRead("/orders", 2),
      () => brandHasMirror(brand) && brand.mirrored("orders").length > 0,
    ];
    for (const moment of moments) {
      const program = start(brand, "sync", "orders");
      signalAt(brand, program, "SIGKILL", moment);
      expect((await program.ended).signal).toBe("SIGKILL");
      held = brandHasMirror(brand) ? expectOnlyWholeAnswers(brand) : 0;
    }
    expect(held).toBeGreaterThan(0);
    const killed = brand.lastRun("orders");
    expect(killed).toMatchObject({ since: null, until: expect.any(String), verified: 0 });
    expect(killed.requests).toBeGreaterThan(1);
    const left = leftToRead(brand);
    const next = await brand.run("sync orders", theirClock);
    expect(next.code, next.err).toBe(0);
    expectOnlyWhatIsLeft(brand, left);
    expectEqualToApi(brand);
    // The rows of all runs account for what is here, those of runs that were killed too.
    const [all] = brand.sql<{ added: number; less: number }>(
      "SELECT sum(rows_new) AS added, min(rows_read - rows_new) AS less FROM sync_runs",
    );
    expect(all?.added).toBe(5_000);
    expect(all?.less).toBeGreaterThanOrEqual(0);
  });

  test("while orders come in, so that the pages shift, loses none of them", async () => {
    const brand = await brandForTest({ orders: 2_000, latencyMs: 20 });
    const program = start(brand, "sync", "orders");
    signalAt(brand, program, "SIGINT", nthRead("/orders", 10));
    await program.ended;
    for (let hour = 1; hour <= 30; hour += 1)
      brand.sandbox.events.lateOrder(brand.sandbox.now() - hour * 3_600_000);
    const [removed] = ordersOf(brand.sandbox).slice(100);
    brand.sandbox.events.withdraw(removed?.id ?? "");
    const next = await brand.run("sync orders");
    expect(next.code, next.err).toBe(0);
    expectEqualToApi(brand);
  });
});

test("`kill -9` at any moment of a whole sync: the mirror opens, and the next run makes it equal to the API", async () => {
  const brand = await brandForTest({ orders: 250, latencyMs: 2 });
  const moments: ((request: InterceptedRequest) => boolean)[] = [
    ({ path }) => path.startsWith("/opportunities/"),
    ({ path, query }) =>
      path === "/analytics/clicks" && query.get("start_date") === "2026-02-01T00:00:00.000Z",
    ({ path, query }) => path === "/analytics/hosts" && query.get("page") === "1",
    ({ path }) => /\/surveys\/.*\/results/.test(path),
    nthRead("/content", 3),
  ];
  for (const moment of moments) {
    const program = start(brand, "sync");
    signalAt(brand, program, "SIGKILL", moment);
    const ended = await program.ended;
    expect(ended.signal, ended.err).toBe("SIGKILL");
    expect(brand.sql("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  }
  const last = await brand.run("sync");
  expect(last.code, last.err).toBe(0);
  for (const resource of [...resources, ...details]) await expectFaithful(brand, resource);
  expect(brand.sql("SELECT * FROM sync_state WHERE goal_begun_at IS NOT NULL")).toEqual([]);
  expect(brand.sql("SELECT * FROM sync_runs WHERE outcome = 'running'")).toEqual([]);
});

describe("two syncs at once", () => {
  test("the second ends with 9 at once, with `--wait` it queues; exports are never blocked", async () => {
    const brand = await brandForTest({ orders: 500, latencyMs: 150 });
    await brand.run("sync roster");
    const first = start(brand, "sync", "orders");
    await new Promise<void>((resolve) => {
      brand.sandbox.intercept = ({ path }) => {
        if (path === "/orders") resolve();
      };
    });
    const second = await brand.run("sync roster");
    expect(second.code).toBe(9);
    expect(second.err).toContain("Another run holds this mirror");
    expect(second.err).toContain("`--wait`");
    expect((await brand.run("export roster --csv")).code).toBe(0);
    const [queued, ended] = await Promise.all([brand.run("sync roster --wait"), first.ended]);
    expect(ended.code, ended.err).toBe(0);
    expect(queued.code).toBe(0);
    const starts = brand.sql<{ resource: string; started_at: string; finished_at: string }>(
      "SELECT resource, started_at, finished_at FROM sync_runs ORDER BY run_id",
    );
    expect(starts.map(({ resource }) => resource)).toEqual(["roster", "orders", "roster"]);
  });

  test("a run that was killed leaves no lock behind", async () => {
    const brand = await brandForTest({ orders: 500, latencyMs: 50 });
    const first = start(brand, "sync", "orders");
    signalAt(brand, first, "SIGKILL", nthRead("/orders", 3));
    await first.ended;
    expect((await brand.run("sync roster")).code).toBe(0);
  });
});

function brandHasMirror(brand: Brand): boolean {
  try {
    brand.sql("SELECT 1 FROM records");
    return true;
  } catch {
    return false;
  }
}
