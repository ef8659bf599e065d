import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { lockMirror } from "../../src/mirror/lock.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { type Sandbox, type SandboxOptions, startSandbox } from "../support/old-sandbox/index.js";
import { binPath, spawnBrandapi } from "../support/process.js";
import {
  envOf,
  expectEqual,
  expectSeen,
  expectWhole,
  jumpingClock,
  meetFault,
  nthRead,
  runAt,
  sharedSandbox,
  syncedHome,
} from "./matrix.js";

/** A brand whose API takes its time, so that things can happen meanwhile. */
async function slowSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(
    { orders: 350, rateLimit: null, pace: 0, latencyMs: 60, ...options },
    { clock: systemClock },
  );
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Resolves when the sandbox is asked for the nth answer that reads orders. */
function whenAsked(sandbox: Sandbox, nth: number): Promise<void> {
  const isIt = nthRead(nth);
  return new Promise((resolve) => {
    sandbox.intercept = (request) => {
      if (isIt(request)) resolve();
    };
  });
}

const starts = (sandbox: Sandbox, home: string, args: string[]) =>
  spawnBrandapi(args, { home, env: envOf(sandbox, home, sandbox.key) });

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s in the middle of a sync: a clean stop with %i, and the next run goes on",
  async (signal, code) => {
    const sandbox = await slowSandbox();
    const home = makeHome();
    const asked = whenAsked(sandbox, 3);
    const program = starts(sandbox, home, ["sync", "orders"]);
    await asked;
    program.child.kill(signal);
    const ended = await program.ended;
    expect(ended.signal).toBeNull();
    expectSeen({ ...ended, code: ended.code ?? -1, home }, { code, says: /Stopped[\s\S]*kept/ }, [
      sandbox.key,
    ]);
    sandbox.intercept = undefined;
    expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
    expectEqual(sandbox, home);
  },
);

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s twice in a sync: it ends at once with %i, and the mirror is whole", async (signal, code) => {
  const sandbox = await slowSandbox();
  const home = makeHome();
  const asked = whenAsked(sandbox, 2);
  const program = starts(sandbox, home, ["sync", "orders"]);
  await asked;
  program.child.kill(signal);
  program.child.kill(signal);
  expect((await program.ended).code).toBe(code);
  expectWhole(home);
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("kill -9 in a sync leaves no stale lock: the next run begins at once, and goes on", async () => {
  const sandbox = await slowSandbox();
  const home = makeHome();
  const asked = whenAsked(sandbox, 3);
  const program = starts(sandbox, home, ["sync", "orders"]);
  await asked;
  program.child.kill("SIGKILL");
  expect((await program.ended).signal).toBe("SIGKILL");
  expectWhole(home);
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

/** Another run's lock. */
async function holdMirrorOf(home: string) {
  const signal = new AbortController().signal;
  return await lockMirror(join(home, "mirror.sqlite"), { wait: false, clock: systemClock, signal });
}

test.each(["sync orders", "sync roster", "verify orders"])(
  "another run holds the mirror: `%s` ends at once with 9",
  async (command) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    (await makeMirror(home)).db.close();
    const held = await holdMirrorOf(home);
    try {
      const result = await runAt(sandbox, home, command);
      expectSeen(result, { code: 9, says: /Another run holds this mirror[\s\S]*--wait/ }, [sandbox.key]);
    } finally {
      held.release();
    }
    expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  },
);

test("two syncs at once: one does the work, the other ends with 9; with --wait it queues", async () => {
  const sandbox = await slowSandbox();
  const home = makeHome();
  // The first is kept waiting for its answer, however long the machine takes to start the others.
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    sandbox.intercept = async ({ path }) => {
      if (!path.includes("/orders")) return;
      resolve();
      await held;
    };
  });
  const first = starts(sandbox, home, ["sync", "orders"]);
  await asked;
  const [second, third] = [
    starts(sandbox, home, ["sync", "orders"]),
    starts(sandbox, home, ["sync", "orders", "--wait"]),
  ];
  const other = String.raw`since 20[-\d]+ [:\d]+ UTC, \d+s ago \(sync of orders, \d requests?\)`;
  expect(await second.ended).toMatchObject({
    code: 9,
    err: expect.stringMatching(
      new RegExp(`^brandapi: Another run holds this mirror ${other}: /.*\n  hint: .*\n$`),
    ),
  });
  await third.until(/waits/);
  const looked = await runAt(sandbox, home, "status --json");
  expect(JSON.parse(looked.out).under_way).toEqual({
    started_at: expect.stringMatching(/^20/),
    progress: {
      ...{ command: "sync", resource: "orders", position: 1, of: 1 },
      ...{ requests: expect.any(Number), requests_left: null, at: expect.stringMatching(/^20/) },
    },
  });
  expect((await runAt(sandbox, home, "status")).out).toMatch(
    new RegExp(`^A run is under way ${other}$`, "m"),
  );
  goOn();
  expect((await first.ended).code).toBe(0);
  const queued = await third.ended;
  expect(queued.code).toBe(0);
  expect(queued.err.match(new RegExp(`^waits for another run ${other}$`, "gm"))).toHaveLength(1);
  expect(JSON.parse((await runAt(sandbox, home, "status --json")).out).under_way).toBeNull();
  expectEqual(sandbox, home);
});

test("a run that has only just begun is not told with what an earlier one, which was killed, said of itself", async () => {
  const sandbox = await slowSandbox();
  const home = makeHome();
  const killed = starts(sandbox, home, ["sync", "orders"]);
  await vi.waitUntil(() => existsSync(join(home, "mirror.sqlite")) && sandbox.log.length > 4, {
    timeout: 20_000,
  });
  killed.child.kill("SIGKILL");
  await killed.ended;
  const options = { wait: false, clock: systemClock, signal: new AbortController().signal };
  const held = await lockMirror(join(home, "mirror.sqlite"), options);
  const status = await runAt(sandbox, home, "status");
  held.release();
  expect(status.out).toMatch(/^A run is under way since .* UTC, \ds ago \(nothing read yet\)$/m);
});

test("Ctrl-C while queueing with --wait: 130, and the lock stays the other's", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const held = await holdMirrorOf(home);
  const stop = new AbortController();
  const waiting = runAt(sandbox, home, "sync orders --wait", { signal: stop.signal });
  stop.abort(new Stopped("SIGINT"));
  expectSeen(await waiting, { code: 130, says: /Stopped/ }, [sandbox.key]);
  expect((await runAt(sandbox, home, "sync orders")).code).toBe(9);
  held.release();
});

test("a wait that nothing ends is told as a defect, with exit 1", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const held = await holdMirrorOf(home);
  const forgetful = `import timers from "node:timers/promises"; import { syncBuiltinESMExports } from "node:module";
    timers.setTimeout = () => new Promise(() => {}); syncBuiltinESMExports();`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(forgetful)}`;
  const { ended } = spawnBrandapi(["sync", "orders", "--wait"], {
    home,
    env: envOf(sandbox, home, sandbox.key),
    node: [process.execPath, preload],
  });
  expect(await ended).toMatchObject({
    code: 1,
    err: expect.stringMatching(/came to its end before its work/),
  });
  held.release();
});

test("an export, a status and another program read the mirror while a sync writes it", async () => {
  const sandbox = await slowSandbox();
  const home = makeHome();
  await runAt(sandbox, home, "sync orders roster");
  const asked = whenAsked(sandbox, 2);
  const program = starts(sandbox, home, ["sync", "orders", "--full"]);
  await asked;
  const reader = new Sqlite(join(home, "mirror.sqlite"), { readonly: true });
  reader.exec("BEGIN");
  expect(reader.prepare("SELECT count(*) FROM orders").pluck().get()).toBe(350);
  const exported = await runAt(sandbox, home, "export orders --ndjson");
  expect(exported.code).toBe(0);
  expect(exported.out.trim().split("\n")).toHaveLength(350);
  expect((await runAt(sandbox, home, "status")).code).toBe(0);
  expect((await program.ended).code).toBe(0);
  // The reader's view stands still however long it looks.
  expect(reader.prepare("SELECT count(*) FROM orders").pluck().get()).toBe(350);
  reader.close();
  expectEqual(sandbox, home);
});

test("another program holds a write transaction for a while: the sync waits for it", async () => {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders");
  const holder = spawn(process.execPath, [
    "-e",
    `
    const db = require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))})(${JSON.stringify(join(home, "mirror.sqlite"))});
    db.exec("BEGIN IMMEDIATE"); console.log("held"); setTimeout(() => { db.exec("COMMIT"); }, 700);`,
  ]);
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  expectSeen(await runAt(sandbox, home, "sync orders --full"), { code: 0 }, [sandbox.key]);
  await new Promise((resolve) => (holder.exitCode === null ? holder.once("exit", resolve) : resolve(null)));
});

test("stderr is closed: the sync goes on", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const child = spawn(process.execPath, [binPath, "sync", "orders"], {
    env: { PATH: process.env.PATH, HOME: home, ...envOf(sandbox, home, sandbox.key) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.destroy();
  expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
  expectEqual(sandbox, home);
});

test.each([
  ["export", "orders", "--csv"],
  ["export", "orders", "--json"],
  ["sync", "orders", "--json"],
])("the reader of `%s %s %s` has seen enough (| head): it ends quietly with 0", async (...args) => {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders");
  const child = spawn(process.execPath, [binPath, ...args], {
    env: { PATH: process.env.PATH, HOME: home, ...envOf(sandbox, home, sandbox.key) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (text) => {
    err += text;
  });
  child.stdout.destroy();
  expect(await new Promise((resolve) => child.on("close", resolve)), err).toBe(0);
  expect(err).not.toMatch(/EPIPE|defect|at .+:\d+:\d+/);
  expectWhole(home);
});

test.each([
  ["status --max-age 1s", 10, 1],
  ["verify orders", 8, 1],
  ["verify orders --repair", 0, 0],
])(
  "the reader of `%s` has seen enough: it goes on, and ends with its own code, %d",
  async (words, code, wrong) => {
    const sandbox = await sharedSandbox();
    const home = await syncedHome(sandbox, "sync orders");
    const mirror = new Sqlite(join(home, "mirror.sqlite"));
    mirror.exec("DELETE FROM orders WHERE record_id = (SELECT min(record_id) FROM orders)");
    mirror.close();
    const child = spawn(process.execPath, [binPath, ...words.split(" ")], {
      env: { PATH: process.env.PATH, HOME: home, ...envOf(sandbox, home, sandbox.key) },
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.destroy();
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(code);
    const after = new Sqlite(join(home, "mirror.sqlite"), { readonly: true });
    onTestFinished(() => void after.close());
    const lacking =
      "SELECT count(*) FROM records WHERE resource = 'orders' AND record_id NOT IN (SELECT record_id FROM orders)";
    expect(after.prepare(lacking).pluck().get()).toBe(wrong);
  },
);

test("few files may be open (ulimit -n 40): it works, or says so in words", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const program = spawnBrandapi(["sync", "--max-wait", "0s"], {
    home,
    env: envOf(sandbox, home, sandbox.key),
    node: ["sh", "-c", 'ulimit -n 40; exec "$0" "$@"', process.execPath],
  });
  const ended = await program.ended;
  expect([0, 3, 6], ended.err).toContain(ended.code);
  expect(ended.err).not.toMatch(/defect|at .+:\d+:\d+/);
  expectWhole(home);
});

test("the laptop sleeps for hours in the middle of a sync: it goes on", async () => {
  const { clock, state } = jumpingClock();
  await meetFault(
    (count) => {
      if (count === 2) state.waited += 5 * 3_600_000;
      return undefined;
    },
    { code: 0 },
    { command: "sync orders", clock },
  );
});

test("the mirror is moved away in the middle of a sync: exit 3, and it goes on once it is back", async () => {
  const sandbox = await slowSandbox({ latencyMs: 20 });
  const home = makeHome();
  const asked = whenAsked(sandbox, 2);
  const program = starts(sandbox, home, ["sync", "orders"]);
  await asked;
  const { rename } = await import("node:fs/promises");
  await rename(join(home, "mirror.sqlite"), join(home, "moved.sqlite"));
  const ended = await program.ended;
  expectSeen(
    { ...ended, code: ended.code ?? -1, home },
    { code: 3, says: /moved away or removed in the middle/ },
    [sandbox.key],
  );
  sandbox.intercept = undefined;
  await rename(join(home, "moved.sqlite"), join(home, "mirror.sqlite"));
  expectWhole(home);
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("a lock file that nobody holds means nothing", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  writeFileSync(join(home, "mirror.sqlite-lock"), "");
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
});
