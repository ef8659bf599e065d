import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { makeHome } from "../support/home.js";
import type { Fault } from "../support/old-sandbox/index.js";
import { expectEqual, expectSeen, jumpingClock, meetFault, nthRead, runAt, sharedSandbox } from "./matrix.js";

const tooMany = (retryAfter?: string): Fault => ({
  kind: "status",
  status: 429,
  ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
});
const inSeconds = (seconds: number) => new Date(systemClock.now() + seconds * 1_000).toUTCString();

test.each([
  ["in seconds", "7", 7_000, 8_000],
  ["as a date", "date", 20_000, 32_000],
  ["as a date in the past", "Wed, 21 Oct 2015 07:28:00 GMT", 0, 1_000],
  ["of zero", "0", 0, 1_000],
  ["that is negative", "-5", 0, 60_000],
  ["that is no number", "soon", 0, 60_000],
  ["that is a fraction", "1.5", 0, 60_000],
  ["that is absurd", "99999999999", 0, 301_000],
  ["that is absurdly long", "9".repeat(400), 0, 301_000],
  ["that is absent", undefined, 0, 60_000],
] as const)("a 429 with a Retry-After %s is waited out, not failed", async (_, value, least, most) => {
  const { clock, state } = jumpingClock();
  const header = value === "date" ? inSeconds(30) : value;
  await meetFault(
    (count) => (count === 2 ? tooMany(header) : undefined),
    { code: 0 },
    {
      command: "sync orders",
      clock,
    },
  );
  expect(state.waited).toBeGreaterThanOrEqual(least);
  // Besides, each page may have waited a while for the next.
  expect(state.waited).toBeLessThanOrEqual(most + 20_000);
});

test("ten minutes of 429 are longer than the five of --max-wait: exit 6, and the next run goes on", async () => {
  const { clock } = jumpingClock();
  const fault = (count: number) => (count >= 2 ? tooMany() : undefined);
  await meetFault(
    fault,
    { code: 6, says: /429, too many requests .*[\s\S]*--max-wait/ },
    { command: "sync orders", clock },
  );
});

test("ten minutes of 429 are waited out with --max-wait 30m", async () => {
  const { clock, state } = jumpingClock();
  let since: number | undefined;
  await meetFault(
    (count) => {
      if (count === 2) since = state.waited;
      return since !== undefined && state.waited - since < 600_000 ? tooMany() : undefined;
    },
    { code: 0 },
    { command: "sync orders --max-wait 30m", clock },
  );
});

test("a 429 on every other request only makes it slower", async () => {
  const { clock } = jumpingClock();
  await meetFault(
    (count) => (count % 2 === 0 ? tooMany("1") : undefined),
    { code: 0 },
    { command: "sync orders", clock },
  );
});

test.each([
  ["an hour forth", 3_600_000],
  ["an hour back", -3_600_000],
  ["a year forth", 365 * 86_400_000],
  ["to 1970", -systemClock.now()],
] as const)(
  "the clock jumps %s in the middle of a sync: nothing is lost, and the next run is complete",
  async (_, by) => {
    let jumped = 0;
    const clock = { ...jumpingClock().clock };
    const now = clock.now;
    clock.now = () => Math.max(0, now() + jumped);
    await meetFault(
      (count) => {
        if (count === 2) jumped = by;
        return undefined;
      },
      { code: 0 },
      { command: "sync orders", clock },
    );
  },
);

/** Runs with a budget, so that the governor's file is in use. */
const budget = { BRANDAPI_RATE_LIMIT: "60" };
const stateOf = (home: string) => join(home, ".local/state/brandapi");

test.each([
  ["is garbage", (folder: string) => writeFileSync(join(folder, "rate.sqlite"), "garbage".repeat(999))],
  ["is empty", (folder: string) => writeFileSync(join(folder, "rate.sqlite"), "")],
  ["is a folder", (folder: string) => mkdirSync(join(folder, "rate.sqlite", "x"), { recursive: true })],
  [
    "is another program's database",
    (folder: string) => writeFileSync(join(folder, "rate.sqlite"), "SQLite format 3\0"),
  ],
] as const)("the governor's file %s: the sync is slower or says so, and is complete", async (_, spoil) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  mkdirSync(stateOf(home), { recursive: true });
  spoil(stateOf(home));
  const result = await runAt(sandbox, home, "sync orders", { env: budget, clock: jumpingClock().clock });
  expectSeen(result, { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("the governor's file is deleted in the middle: what was sent still counts", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const isSecond = nthRead(2);
  let wasDeleted = false;
  sandbox.intercept = (request) => {
    if (!isSecond(request)) return;
    wasDeleted = true;
    for (const name of readdirSync(stateOf(home))) rmSync(join(stateOf(home), name), { force: true });
  };
  const result = await runAt(sandbox, home, "sync orders", { env: budget });
  expect(wasDeleted).toBe(true);
  expectSeen(result, { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("a budget of five requests a minute makes a sync slow, not wrong", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const { clock, state } = jumpingClock();
  expectSeen(await runAt(sandbox, home, "sync orders --rate-limit 5", { clock }), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
  expect(state.waited).toBeGreaterThan(59_000);
});

test.each([
  ["`remaining` 0 and a reset in a minute", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "60" }],
  ["`remaining` that is no number", { "x-ratelimit-remaining": "few", "x-ratelimit-reset": "later" }],
  ["a reset in the year 9999", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "253402300799" }],
  ["a structured header that is cut", { ratelimit: '"minute";r=' }],
] as const)("headers with %s: the sync is complete", async (_, headers) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const answer = await globalThis.fetch(url, init);
    return new Response(answer.body, {
      status: answer.status,
      headers: { ...Object.fromEntries(answer.headers), ...headers },
    });
  };
  const { clock } = jumpingClock();
  expectSeen(await runAt(sandbox, home, "sync orders", { clock, fetch }), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});
