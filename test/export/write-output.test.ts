import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { MirrorBusy } from "../../src/errors.js";
import { writeToFile } from "../../src/export/write-output.js";
import { replaceFileFunction } from "../support/files.js";
import { makeHome } from "../support/home.js";
import { anOrder, mirrorOfOrders } from "../support/mirror.js";
import { spawnBrandapi, until } from "../support/process.js";
import { brandapi, testDeps } from "../support/program.js";

/** The paths of the files and folders that have been flushed to disk. */
const flushed: string[] = [];
replaceFileFunction("open", (open) => async (path, ...options) => {
  const handle = await open(path, ...options);
  const sync = handle.sync.bind(handle);
  const recordAndSync = async () => {
    flushed.push(String(path));
    await sync();
  };
  return Object.assign(handle, { sync: recordAndSync });
});

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

test("an export writes a complete file, reports its size and leaves no temporary files", async () => {
  const path = await mirrorOfOrders(3);
  const home = makeHome();
  const run = await brandapi(["export", "orders", "-o", "orders.csv", "--db", path], { home });
  expect(run.code).toBe(0);
  expect(run.out).toBe("");
  expect(run.err).toMatch(/^orders: 3 rows, 789 B: orders\.csv\n$/);
  expect(readFileSync(join(home, "orders.csv"), "utf8").split("\n")).toHaveLength(5);
  expect(readdirSync(home)).toEqual(["orders.csv"]);
  const quiet = await brandapi(["export", "orders", "-o", "orders.ndjson", "--quiet", "--db", path], {
    home,
  });
  expect(quiet.err).toBe("");
  expect(JSON.parse(readFileSync(join(home, "orders.ndjson"), "utf8").split("\n")[0] ?? "")).toEqual(
    anOrder(0),
  );
});

test("an export preserves the permissions of the previous file and follows symbolic links", async () => {
  const path = await mirrorOfOrders(1);
  const home = makeHome();
  writeFileSync(join(home, "real.csv"), "old");
  chmodSync(join(home, "real.csv"), 0o750);
  symlinkSync("real.csv", join(home, "link.csv"));
  await brandapi(["export", "orders", "-o", "link.csv", "--db", path], { home });
  expect(readFileSync(join(home, "real.csv"), "utf8")).toContain("order-0");
  expect(statSync(join(home, "real.csv")).mode & 0o777).toBe(0o750);
  expect(readdirSync(home).sort()).toEqual(["link.csv", "real.csv"]);
});

test("an export rejects an unwritable path before it reads any rows", async () => {
  const path = await mirrorOfOrders(1);
  const home = makeHome();
  mkdirSync(join(home, "folder.csv"));
  writeFileSync(join(home, "file"), "");
  const target = async (out: string) =>
    await brandapi(["export", "orders", "--csv", "-o", out, "--db", path], { home });
  const folder = await target("folder.csv");
  expect(folder.code).toBe(3);
  expect(folder.err).toMatch(/folder\.csv: it is a folder\n {2}hint: choose a different file name/);
  expect((await target("file/")).err).toContain("it is a file, not a folder");
  expect((await target("/proc/orders.csv")).err).not.toContain("does not exist");
  expect((await target("nowhere/orders.csv")).err).toMatch(/the folder \S+nowhere does not exist/);
  expect((await target("file/orders.csv")).err).toMatch(
    /`\S+\/file` is a file, not a folder\n {2}hint: choose a different folder/,
  );
  symlinkSync("loop", join(home, "loop"));
  const loop = await target("loop/orders.csv");
  expect(loop).toMatchObject({ code: 3, err: expect.stringContaining("too many symbolic links") });
  expect((await target(`${"x".repeat(252)}.csv`)).err).toContain("name too long");
  expect(readdirSync(home).sort()).toEqual(["file", "folder.csv", "loop"]);
});

test("an export can write a file whose name has the maximum length", async () => {
  const path = await mirrorOfOrders(1);
  const home = makeHome();
  const name = `${"ü".repeat(125)}.csv`;
  const run = await brandapi(["export", "orders", "-o", name, "--db", path], { home });
  expect(run.code, run.err).toBe(0);
  expect(readdirSync(home)).toEqual([name]);
});

test.each([
  ["pipe.csv", "cat"],
  ["pipe.csv.gz", "zcat"],
])("an export writes to the named pipe `%s` without replacing it", async (name, command) => {
  const db = await mirrorOfOrders(1);
  const home = makeHome();
  const path = join(home, name);
  execFileSync("mkfifo", [path]);
  const reader = spawn("sh", ["-c", `${command} < ${path}`], { stdio: ["ignore", "pipe", "ignore"] });
  const [{ code }, output] = await Promise.all([
    brandapi(["export", "orders", "-o", path, "--db", db]),
    text(reader.stdout),
  ]);
  expect([code, output.split("\n").length]).toEqual([0, 3]);
  expect(statSync(path).isFIFO()).toBe(true);
  expect(readdirSync(home)).toEqual([name]);
});

test("an export keeps the previous file and leaves no temporary files if reading rows fails", async () => {
  const path = await mirrorOfOrders(300);
  const home = makeHome();
  writeFileSync(join(home, "orders.csv"), "old");
  const run = await brandapi(
    ["export", "orders", "-o", "orders.csv", "--where", "iif(id = 'order-250', json('x'), 1)", "--db", path],
    { home },
  );
  expect(run.code).toBe(2);
  expect(readFileSync(join(home, "orders.csv"), "utf8")).toBe("old");
  expect(readdirSync(home)).toEqual(["orders.csv"]);
});

test.runIf(existsSync("/proc/self/fd")).each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "an export killed by %s keeps the previous file, and leaves no temporary file",
  async (signal) => {
    const path = await mirrorOfOrders(2_000);
    const home = makeHome();
    writeFileSync(join(home, "orders.csv"), "old");
    // The condition never finishes evaluating, so the export continues until it is stopped.
    const forever =
      "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c) > 0";
    const condition = `CASE WHEN id < 'order-5' THEN 1 ELSE ${forever} END`;
    const program = spawnBrandapi(
      ["export", "orders", "-o", "orders.csv", "--where", condition, "--db", path],
      { home },
    );
    const isWriting = () => {
      const folder = `/proc/${program.child.pid}/fd`;
      return (
        existsSync(folder) &&
        readdirSync(folder).some((name) => linkAt(join(folder, name)).endsWith(".part (deleted)"))
      );
    };
    await until(isWriting);
    program.child.kill(signal);
    expect((await program.ended).signal).toBe(signal);
    expect(readdirSync(home)).toEqual(["orders.csv"]);
    expect(readFileSync(join(home, "orders.csv"), "utf8")).toBe("old");
  },
);

test.runIf(existsSync("/dev/full"))("an export reports in one line that the disk is full", async () => {
  const path = await mirrorOfOrders(10);
  const run = await brandapi(["export", "orders", "--csv", "-o", "/dev/full", "--db", path]);
  expect(run.code).toBe(3);
  expect(run.err).toMatch(/^brandapi: Cannot write \/dev\/full: the disk is full\n {2}hint: .*\n$/);
});

test("an export of several megabytes writes the complete file, compressed if requested", async () => {
  const home = makeHome();
  const data = randomBytes(2_500_000);
  const path = join(home, "data");
  const { bytes } = await writeToFile(
    [{ data: data.subarray(0, 9) }, { data: data.subarray(9) }],
    path,
    testDeps(),
  );
  expect(bytes).toBe(data.length);
  expect(readFileSync(path).equals(data)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
  const lines = "abc\n".repeat(1_000);
  const compressed = await writeToFile([{ data: lines }], path, testDeps(), { isCompressed: true });
  expect(gunzipSync(readFileSync(path)).toString()).toBe(lines);
  expect(compressed.bytes).toBe(statSync(path).size);
});

test("an export flushes the file to disk before renaming it, and the folder afterward", async () => {
  const home = makeHome();
  flushed.length = 0;
  await writeToFile([{ data: "new" }], join(home, "data"), testDeps());
  expect(flushed).toEqual([expect.stringMatching(/data.*\.part$/), home]);
});

test("a stopped export keeps the previous file and its permissions", async () => {
  const home = makeHome();
  const path = join(home, "data");
  writeFileSync(path, "old", { mode: 0o600 });
  const stop = AbortSignal.abort(new Error("stopped"));
  const deps = { ...testDeps(), signal: stop, runGracefully: <T>(work: () => Promise<T>) => work() };
  await expect(writeToFile([{ data: "new" }], path, deps)).rejects.toThrow();
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(home)).toEqual(["data"]);
});

test("if a complete export cannot be moved to the target path, the export fails and removes its temporary file", async () => {
  const home = makeHome();
  const failing = (cause: Error) =>
    writeToFile([{ data: "new" }], join(home, "data"), testDeps(), { publish: () => Promise.reject(cause) });
  const full = Object.assign(new Error("full"), { code: "ENOSPC" });
  await expect(failing(full)).rejects.toMatchObject({
    exitCode: 3,
    hint: expect.stringContaining("is unchanged"),
  });
  const missing = Object.assign(new Error("missing"), { code: "ENOENT" });
  await expect(failing(missing)).rejects.toMatchObject({
    message: expect.stringContaining("does not allow new files"),
  });
  const busy = new MirrorBusy("busy");
  await expect(failing(busy)).rejects.toBe(busy);
  expect(readdirSync(home)).toEqual([]);
});

test.runIf(existsSync("/dev/fd"))(
  "an export to a pipe ends early and without an error if the reader closes the pipe",
  async () => {
    const path = join(makeHome(), "pipe");
    execFileSync("mkfifo", [path]);
    const reader = spawn("head", ["-c", "1", path], { stdio: "ignore" });
    function* chunks() {
      for (let n = 0; n < 100; n += 1) yield { data: "x".repeat(65_536) };
    }
    const result = await writeToFile(chunks(), path, testDeps());
    expect(result).toMatchObject({ isCutShort: true });
    reader.kill();
  },
);
