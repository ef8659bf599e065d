import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { resources } from "../../src/resources/index.js";
import { smallFirst } from "../../src/sync/resources.js";
import { makeHome } from "../support/home.js";
import type { Fault } from "../support/old-sandbox/index.js";
import { spawnBrandapi } from "../support/process.js";
import { sandboxForTest } from "../support/sandbox.js";
import { envOf, expectSeen, jumpingClock, runAt, sharedSandbox } from "./matrix.js";

/** In the order in which they are read. */
const names = smallFirst(resources).map(({ name }) => name);
const patienceMs = 120_000;

/** Runs a command for everything, in which the API answers nothing any more once it has been asked for a path. */
async function runUntilAsked(
  path: string,
  silence: () => Promise<Response>,
  command = "sync",
  home = makeHome(),
) {
  const sandbox = await sharedSandbox();
  const { clock, state } = jumpingClock();
  let inVain = 0;
  const fetch = async (url: string | URL, init?: RequestInit) => {
    if (inVain === 0 && !new URL(url).pathname.endsWith(path)) return await globalThis.fetch(url, init);
    inVain += 1;
    return await silence();
  };
  const result = await runAt(sandbox, home, `${command} --quiet --max-wait 2m`, { clock, fetch });
  return { sandbox, home, result, waited: state.waited, inVain };
}

function refuse(): Promise<Response> {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  return Promise.reject(new TypeError("fetch failed", { cause }));
}

const silences: [name: string, silence: () => Promise<Response>, says: RegExp][] = [
  ["refuses connections", refuse, /unavailable: could not connect to .*: connection refused/],
  ["answers 503", async () => new Response("", { status: 503 }), /unavailable: it answered 503/],
  ["answers 429", async () => new Response("", { status: 429 }), /unavailable: it answered 429/],
  [
    "resets connections",
    () =>
      Promise.reject(
        new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) }),
      ),
    /unavailable: .*reset/,
  ],
];

test.each(silences)(
  "an API that %s from the first resource on is waited for once: exit 6",
  async (_, silence, says) => {
    const { home, inVain, result, sandbox, waited } = await runUntilAsked("/roster", silence);
    expectSeen({ ...result, home }, { code: 6, says }, [sandbox.key]);
    expect(result.err).toContain(`Not read: ${names.join(", ")}.`);
    expect(result.err.trim().split("\n")).toHaveLength(2);
    expect(waited).toBeLessThan(1.2 * patienceMs);
    expect(inVain).toBeLessThan(40);
  },
);

test.each(silences)(
  "an API that %s in the middle ends the run: exit 8, and says what was not read",
  async (_, silence, says) => {
    const { home, result, sandbox, waited } = await runUntilAsked("/recommendations", silence);
    expectSeen({ ...result, home }, { code: 8, says }, [sandbox.key]);
    expect(result.err).toContain(`Not read: ${names.slice(1).join(", ")}.`);
    expect(waited).toBeLessThan(1.2 * patienceMs);
    expect(outcomesIn(home)).toMatchObject({ roster: "done", recommendations: "failed" });
  },
);

test("`verify` ends the same way, and says what was not compared", async () => {
  const home = makeHome();
  expect((await runAt(await sharedSandbox(), home, "sync")).code).toBe(0);
  const { result, sandbox, waited } = await runUntilAsked("/recommendations", refuse, "verify", home);
  expectSeen(
    { ...result, home },
    { code: 8, says: /connection refused .* Not compared: recommendations, / },
    [sandbox.key],
  );
  expect(waited).toBeLessThan(1.2 * patienceMs);
});

const alone: [name: string, fault: Fault][] = [
  ["answers 503", { kind: "status", status: 503 }],
  ["resets connections", { kind: "reset", when: "before" }],
  ["answers with a web page", { kind: "html" }],
];

test.each(alone)(
  "one endpoint that %s stops no other: exit 8 names it, with --quiet too",
  async (_, fault) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    sandbox.intercept = ({ path }) => (path === "/roster" ? fault : undefined);
    const { clock } = jumpingClock();
    const result = await runAt(sandbox, home, "sync --quiet --max-wait 2m", { clock });
    expectSeen(result, { code: 8, says: /^brandapi: 1 of 10 resources failed: roster: / }, [sandbox.key]);
    const { roster, ...others } = outcomesIn(home);
    expect(roster).toBe("failed");
    expect(Object.keys(others)).toHaveLength(names.length - 1);
    expect(new Set(Object.values(others))).toEqual(new Set(["done"]));
  },
);

test("after an endpoint that is down, others that fail at first are tried again", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const seen = new Set<string>();
  sandbox.intercept = ({ path }) => {
    const isFirst = !seen.has(path);
    seen.add(path);
    return path === "/roster" || (isFirst && path !== "/me") ? { kind: "status", status: 503 } : undefined;
  };
  const { clock } = jumpingClock();
  const result = await runAt(sandbox, home, "sync --quiet --max-wait 2m", { clock });
  expectSeen(result, { code: 8, says: /^brandapi: 1 of 10 resources failed: roster: / }, [sandbox.key]);
});

test("an API that says nothing, or stalls in the middle of its answers, is given up by the real program, too", async () => {
  const stalls: Fault[] = [
    { kind: "stall", when: "before" },
    { kind: "stall", when: "body" },
  ];
  await Promise.all(
    stalls.map(async (fault) => {
      const sandbox = await sandboxForTest();
      const home = makeHome();
      sandbox.intercept = ({ path }) => (path === "/me" ? undefined : fault);
      const started = performance.now();
      const { code, ...result } = await spawnBrandapi(["sync", "--max-wait", "1s"], {
        home,
        env: envOf(sandbox, home, sandbox.key),
      }).ended;
      const seen = { code: 6, says: /no whole answer came within 5 s/ };
      expectSeen({ ...result, code: code ?? -1, home }, seen, [sandbox.key]);
      expect(result.err).toContain(`Not read: ${names.join(", ")}.`);
      // One request gets five seconds, however little patience there is; each of ten resources would make fifty.
      expect(performance.now() - started).toBeLessThan(30_000);
    }),
  );
});

/** How each resource's run ended. */
function outcomesIn(home: string): Record<string, string> {
  const db = new Sqlite(`${home}/mirror.sqlite`, { readonly: true });
  const rows = db.prepare("SELECT resource, outcome FROM sync_runs").raw().all() as [string, string][];
  db.close();
  return Object.fromEntries(rows);
}

test("a night in which not even the key could be checked is told by `status`, until a run gets further", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const marks = async () =>
    (JSON.parse((await runAt(sandbox, home, "status --json")).out) as { failed_run: unknown }).failed_run;
  expect((await runAt(sandbox, home, "sync roster")).code).toBe(0);
  expect(await marks()).toBeNull();
  const away = await runAt(sandbox, home, "sync --max-wait 0s", { fetch: refuse });
  expect(away.code).toBe(6);
  expect(await marks()).toEqual({
    command: "sync",
    at: expect.stringMatching(/^20.*Z$/),
    error: expect.stringContaining("connection refused"),
  });
  expect((await runAt(sandbox, home, "status")).out).toMatch(
    /^! the last sync, 20[-\d]+ [:\d]+, read nothing: .*refused/m,
  );
  const mail = await runAt(sandbox, home, "status --max-age 0s --quiet");
  expect(mail.code).toBe(10);
  expect(mail.err).toMatch(
    /^warning: the last sync, 20.*, read nothing: .*refused.*\nbrandapi: Older than 0s: roster\.\n {2}hint: .*\n$/,
  );
  expect((await runAt(sandbox, home, "sync roster", { key: "brk_unknown" })).code).toBe(4);
  expect(await marks()).toMatchObject({ error: expect.stringContaining("rejected the key (401)") });
  expect((await runAt(sandbox, home, "sync roster")).code).toBe(0);
  expect(await marks()).toBeNull();
});
