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
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { anOrder, mirrorOfOrders } from "../support/mirror.js";
import { spawnBrandapi, until } from "../support/process.js";
import { brandapi } from "../support/program.js";

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
  chmodSync(join(home, "real.csv"), 0o640);
  symlinkSync("real.csv", join(home, "link.csv"));
  await brandapi(["export", "orders", "-o", "link.csv", "--db", path], { home });
  expect(readFileSync(join(home, "real.csv"), "utf8")).toContain("order-0");
  expect(statSync(join(home, "real.csv")).mode & 0o777).toBe(0o640);
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

test("an export writes to a device without replacing it", async () => {
  const path = await mirrorOfOrders(1);
  const run = await brandapi(["export", "orders", "--csv", "-o", "/dev/null", "--db", path]);
  expect([run.code, statSync("/dev/null").isCharacterDevice()]).toEqual([0, true]);
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

test("an export writes directly to a pipe or a device", async () => {
  const path = await mirrorOfOrders(1);
  const run = await brandapi(["export", "orders", "--csv", "-o", "/dev/null", "--db", path]);
  expect(run.code).toBe(0);
  expect(readdirSync("/dev").filter((name) => name.endsWith(".part"))).toEqual([]);
});
