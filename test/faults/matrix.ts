import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/deps.js";
import { atFileEnd } from "../support/file-end.js";
import { makeHome } from "../support/home.js";
import {
  type InterceptedRequest,
  type RecordSet,
  type Sandbox,
  startSandbox,
} from "../support/old-sandbox/index.js";
import { brandapi, type ProgramOptions, type ProgramResult } from "../support/program.js";

/** What a person sees when something goes wrong: the exit code, and one or two lines. */
export interface Seen {
  code: number;
  /** Set where the brand's data moves: how many rows make whole answers is then not known. */
  moves?: boolean;
  /** What the message and its hint must say. */
  says?: RegExp | undefined;
}

export const pageSize = 100;
export const orderCount = 350;

/** One brand for all cases of a file; each case has a HOME and a mirror of its own. */
let shared: Promise<Sandbox> | undefined;

/** The sandbox that a file's cases share: nothing in it may be changed but `intercept`, which a case resets. */
export async function sharedSandbox(): Promise<Sandbox> {
  shared ??= openShared();
  const sandbox = await shared;
  sandbox.intercept = undefined;
  onTestFinished(() => {
    sandbox.intercept = undefined;
  });
  return sandbox;
}

async function openShared(): Promise<Sandbox> {
  const sandbox = await startSandbox(
    { orders: orderCount, rateLimit: null, pace: 0 },
    { clock: systemClock },
  );
  atFileEnd(() => {
    shared = undefined;
    synced.clear();
    return sandbox.close();
  });
  return sandbox;
}

/** Mirrors of the shared sandbox, by the command that made them. */
const synced = new Map<string, Promise<Buffer>>();

/**
 * A HOME whose mirror a command has made of the shared sandbox, as a case finds it that begins with one. It is run once
 * for all cases of a file, and its mirror copied.
 */
export async function syncedHome(sandbox: Sandbox, command: string): Promise<string> {
  const mirror = synced.get(command) ?? syncOnce(sandbox, command);
  synced.set(command, mirror);
  const home = makeHome();
  writeFileSync(join(home, "mirror.sqlite"), await mirror, { mode: 0o600 });
  return home;
}

async function syncOnce(sandbox: Sandbox, command: string): Promise<Buffer> {
  const home = makeHome();
  const { code, err } = await runAt(sandbox, home, command);
  expect(code, err).toBe(0);
  return readFileSync(join(home, "mirror.sqlite"));
}

export function envOf({ baseUrl }: Pick<Sandbox, "baseUrl">, home: string, key: string) {
  return {
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_KEY: key,
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: join(home, "mirror.sqlite"),
  };
}

/** Runs a command against the sandbox, without waiting between retries unless told otherwise. */
export async function runAt(
  sandbox: Sandbox,
  home: string,
  command: string | readonly string[],
  options: ProgramOptions & { key?: string } = {},
): Promise<ProgramResult> {
  const { key = sandbox.key, ...rest } = options;
  return await brandapi(command, {
    home,
    ...rest,
    env: { ...envOf(sandbox, home, key), ...rest.env },
  });
}

/** A clock whose waits take no time: it jumps. `waited` says how far. */
export function jumpingClock() {
  const state = { waited: 0 };
  return {
    state,
    clock: {
      now: () => systemClock.now() + state.waited,
      monotonic: () => systemClock.monotonic() + state.waited,
      async sleep(ms: number, signal?: AbortSignal) {
        signal?.throwIfAborted();
        state.waited += ms;
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
      },
    },
  };
}

/**
 * What every fault has in common: the promised exit code; one line that says what happened, and at most one hint; no
 * stack trace; the key nowhere; and a mirror, where there is one, that opens and holds whole answers only.
 */
export function expectSeen(
  result: Pick<ProgramResult, "code" | "out" | "err" | "home">,
  seen: Seen,
  secrets: readonly string[],
): void {
  const { code, out, err, home } = result;
  expect({ code, err }).toEqual({ code: seen.code, err: expect.stringMatching(seen.says ?? /^/) });
  const said = err.split("\n").filter((line) => line.startsWith("brandapi: "));
  expect(said.length, err).toBe(code === 0 ? 0 : 1);
  expect(err).not.toMatch(/^\s+at .+:\d+:\d+/m);
  expect(err).not.toContain("A defect in brandapi");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  expect(out + err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  for (const secret of secrets) {
    expect(out + err).not.toContain(secret);
    for (const path of filesIn(home)) expect(readFileSync(path).includes(secret), path).toBe(false);
  }
  expectWhole(home, seen.moves);
  noteSeen(result, [home, ...secrets]);
}

/** `npm run soak -- faults` collects what a person saw, a line of JSON a case. `parts` differ from run to run. */
function noteSeen({ code, err }: Pick<ProgramResult, "code" | "err">, parts: readonly string[]): void {
  const { FAULTS_SEEN: path } = process.env;
  if (path === undefined) return;
  const said = err
    .split("\n")
    .filter((line) => /^brandapi: |^ {2}hint: /.test(line))
    .map((line) => parts.reduce((text, part) => text.replaceAll(part, "…"), line).trim());
  const name = expect.getState().currentTestName ?? "";
  appendFileSync(path, `${JSON.stringify({ name, code, said: said.slice(0, 2) })}\n`);
}

/** Whether so many orders are those of whole answers: each begins with the oldest order of the one before. */
export function areWholeAnswers(orders: number): boolean {
  return orders === 0 || (orders - 1) % (pageSize - 1) === 0;
}

/** Recognises the nth request that reads orders. Those that only count ask for one record. */
export function nthRead(nth: number): (request: InterceptedRequest) => boolean {
  let count = 0;
  return ({ path, query }) => {
    if (path !== "/orders" || query.get("per_page") !== String(pageSize)) return false;
    count += 1;
    return count === nth;
  };
}

/** The mirror opens, is sound, and holds whole answers. */
export function expectWhole(home: string, moves = false): void {
  const path = join(home, "mirror.sqlite");
  if (!filesIn(home).includes(path)) return;
  const db = new Sqlite(path, { readonly: true });
  try {
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    const tables = db.prepare("SELECT count(*) FROM sqlite_master WHERE name = 'records'").pluck().get();
    if (tables === 0 || moves) return;
    const count = db
      .prepare("SELECT count(*) FROM records WHERE resource = 'orders'")
      .pluck()
      .get() as number;
    expect(count === orderCount || areWholeAnswers(count), `${count} orders`).toBe(true);
  } finally {
    db.close();
  }
}

/** The mirror's present records are the API's; what differs is named by its beginning only. */
export function expectEqual(sandbox: Sandbox, home: string, set: RecordSet = "orders"): void {
  const db = new Sqlite(join(home, "mirror.sqlite"), { readonly: true });
  try {
    const resource = set === "opportunity-details" ? "opportunities" : set;
    const rows = db
      .prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL")
      .pluck()
      .all(resource) as string[];
    const mirror = new Set(rows);
    const api = new Set([...sandbox.records(set)].map((record) => JSON.stringify(record)));
    const shown = (texts: Iterable<string>) => [...texts].slice(0, 5).map((text) => text.slice(0, 80));
    expect({
      missing: shown([...api].filter((text) => !mirror.has(text))),
      tooMany: shown(rows.filter((text) => !api.has(text))),
      count: rows.length,
    }).toEqual({ missing: [], tooMany: [], count: api.size });
  } finally {
    db.close();
  }
}

/** Every file below a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * One case: a sync meets the fault, the person sees what is promised, and a sync afterwards finds everything.
 * @param fault answers requests of `/orders`, by their number from 1; `undefined`: as usual
 */
export async function meetFault(
  fault: (count: number) => ReturnType<NonNullable<Sandbox["intercept"]>>,
  seen: Seen,
  options: ProgramOptions & { command?: string } = {},
): Promise<ProgramResult> {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const { command = "sync orders --max-wait 0s", ...rest } = options;
  let count = 0;
  sandbox.intercept = ({ path }) => {
    if (path !== "/orders") return undefined;
    count += 1;
    return fault(count);
  };
  const result = await runAt(sandbox, home, command, rest);
  expectSeen(result, seen, [sandbox.key]);
  sandbox.intercept = undefined;
  const after = await runAt(sandbox, home, "sync orders");
  expectSeen(after, { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
  return result;
}
