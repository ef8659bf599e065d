import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { ConfigurationError, MirrorBusy } from "../../src/errors.js";
import {
  describeRunningCommand,
  findRunningCommand,
  lockMirror,
  type StoredProgress,
  saveProgress,
} from "../../src/store/mirror-lock.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

const started_at = "2026-11-20T05:00:00.000Z";
const start = Date.parse(started_at);
const clock = { ...systemClock, now: () => start };
const { signal } = new AbortController();

const progress: StoredProgress = {
  command: "sync",
  resource: "orders",
  position: 2,
  of: 3,
  requests: 1,
  requests_left: 5,
  at: started_at,
};

test.each<[string, string, Partial<StoredProgress> | null]>([
  ["that syncs several resources", "sync of orders, 2 of 3, 1 request, about 5 to go", {}],
  ["that syncs a single resource", "sync of orders, 1 request, about 5 to go", { position: 1, of: 1 }],
  ["that has not started a resource", "sync, 1 request, about 5 to go", { resource: null, of: 1 }],
  ["that needs no more requests", "sync of orders, 2 of 3, 1 request", { requests_left: 0 }],
  [
    "whose remaining requests are unknown",
    "sync of orders, 2 of 3, 2 requests",
    { requests: 2, requests_left: null },
  ],
  ["that has stored no progress", "nothing read yet", null],
])("the progress of a running command %s is described as: %s", (_, text, fields) => {
  const command = { started_at, progress: fields && { ...progress, ...fields } };
  expect(describeRunningCommand(command, start + 120_000)).toBe(
    `since 2026-11-20 05:00 UTC, 2m ago (${text})`,
  );
  expect(describeRunningCommand(command, start - 120_000)).toContain("UTC, 0s ago");
});

test.each([
  ["offers --wait if the command has that flag", false, ", or add `--wait`"],
  ["does not offer --wait if the command lacks that flag", undefined, "after that run has ended"],
])("the error for a locked mirror names the running command and %s", async (_, wait, hint) => {
  const mirror = await makeMirror();
  const lock = await lockMirror(mirror.path, { wait: false, clock, signal });
  saveProgress(mirror, progress);
  const error = await lockMirror(mirror.path, { ...(wait === false && { wait }), clock, signal }).catch(
    (e) => e,
  );
  expect(error).toBeInstanceOf(MirrorBusy);
  expect(error.message).toContain("since 2026-11-20 05:00 UTC, 0s ago (sync of orders");
  expect(error.hint.endsWith(hint)).toBe(true);
  lock.release();
});

test("a mirror's lock file is private", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const lock = await lockMirror(path, { wait: false, clock, signal });
  expect(statSync(`${path}-lock`).mode & 0o777).toBe(0o600);
  lock.release();
});

test("a command with --wait waits until another run releases the lock", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const first = await lockMirror(path, { wait: true, clock, signal });
  const events: string[] = [];
  const sleep = async () => {
    events.push("sleep");
    if (events.length === 3) first.release();
  };
  const onQueued = (text: string) => void events.push(text);
  const second = await lockMirror(path, { wait: true, clock: { ...clock, sleep }, signal, onQueued });
  const queued = "waiting for another run since 2026-11-20 05:00 UTC, 0s ago (nothing read yet)";
  expect(events).toEqual([queued, "sleep", "sleep"]);
  await expect(lockMirror(path, { wait: false, clock, signal })).rejects.toBeInstanceOf(MirrorBusy);
  second.release();
});

test("if the lock file's path is a folder, locking fails, and no running command is found", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  expect(await findRunningCommand(path)).toBeNull();
  mkdirSync(`${path}-lock`);
  const error = await lockMirror(path, { wait: false, clock, signal }).catch((e) => e);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({
    message: expect.stringContaining("it is a folder"),
    hint: expect.stringContaining("move it out of the way"),
  });
  expect(await findRunningCommand(path)).toBeNull();
});

test("if another process is only testing the lock, the error says that another run uses the mirror, but does not name a command", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  (await lockMirror(path, { wait: false, clock, signal })).release();
  const tester = new Sqlite(`${path}-lock`).exec("BEGIN; SELECT * FROM sqlite_master");
  const error = await lockMirror(path, { wait: false, clock, signal }).catch((e) => e);
  expect([error.message, tester.inTransaction]).toEqual([`Another run is using this mirror: ${path}.`, true]);
  tester.close();
  (await lockMirror(path, { wait: false, clock, signal })).release();
});

test("findRunningCommand does not create the folder of a missing mirror", async () => {
  const folder = join(makeHome(), "absent");
  expect(await findRunningCommand(join(folder, "mirror.sqlite"))).toBeNull();
  expect(existsSync(folder)).toBe(false);
});

test("if the lock file was written by a different program, locking fails, and no running command is found", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(`${path}-lock`, "x".repeat(600));
  const error = await lockMirror(path, { wait: false, clock, signal }).catch((e) => e);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({
    message: expect.stringContaining(`${path}-lock: file is not a database`),
    hint: expect.stringContaining("move it out of the way"),
  });
  expect(await findRunningCommand(path)).toBeNull();
});

test("findRunningCommand finds the command that has locked a mirror, even if the mirror is missing or the path is a link", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const link = join(makeHome(), "link.sqlite");
  const lock = await lockMirror(path, { wait: false, clock, signal });
  expect(existsSync(path)).toBe(false);
  expect(await findRunningCommand(path)).toEqual({ started_at, progress: null });
  writeFileSync(path, "not a database");
  symlinkSync(path, link);
  expect(await findRunningCommand(link)).toEqual({ started_at, progress: null });
  lock.release();
  expect(await findRunningCommand(link)).toBeNull();
});
