import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { endless } from "../support/hostile-mirror.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { type RunningProgram, spawnBrandapi } from "../support/process.js";
import { stop } from "../support/stop.js";
import { expectSeen } from "./matrix.js";

const partsIn = (home: string) => readdirSync(home).filter((name) => name.endsWith(".part"));

/** An export into `out.csv` that never ends, once it has begun, and the process that works on it. */
async function endlessExport(home: string, env: Record<string, string> = {}) {
  const db = await mirrorOfOrders(home);
  const args = ["export", "orders", "--csv", "--where", `(${endless}) > 0`, "-o", "out.csv", "--db", db];
  const program = spawnBrandapi(args, { home, env });
  await until(() => partsIn(home).length === 1);
  return { program, worker: workerOf(program) };
}

function workerOf({ child }: RunningProgram): number {
  const all = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const rows = all.map((line) => line.trim().split(/\s+/).map(Number));
  return rows.find(([, parent]) => parent === child.pid)?.[0] ?? 0;
}

/** Dead, or a zombie that nobody has asked after. */
function isGone(pid: number): boolean {
  const all = execFileSync("ps", ["-A", "-o", "pid=,stat="], { encoding: "utf8" });
  return !new RegExp(`^\\s*${pid}\\s+[^Z]`, "m").test(all);
}

async function until(holds: () => boolean): Promise<void> {
  for (let left = 100; !holds(); left -= 1) {
    if (left === 0) throw new Error("it never came to be");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s in a statement that never ends: %i, and nothing is left of the export",
  async (signal, code) => {
    const home = makeHome();
    const { program, worker } = await endlessExport(home);
    const ended = await stop(program, signal);
    expectSeen({ ...ended, code: ended.code ?? -1, home }, { code, says: /^brandapi: Stopped\./ }, []);
    expect(partsIn(home)).toEqual([]);
    await until(() => isGone(worker));
  },
);

test("kill -9 in a statement that never ends: its process ends as well, and nothing is left of the export", async () => {
  const home = makeHome();
  const { program, worker } = await endlessExport(home);
  await stop(program, "SIGKILL");
  await until(() => isGone(worker));
  expect(partsIn(home)).toEqual([]);
});

test.runIf(existsSync("/proc/self/environ"))("the process of a statement knows no key", async () => {
  const home = makeHome();
  const env = {
    BRANDAPI_KEY: "brk_secret",
    BRANDAPI_BASE_URL: "https://api.example/api/brand/v1",
    LANG: "C",
  };
  const { program, worker } = await endlessExport(home, env);
  const names = readFileSync(`/proc/${worker}/environ`, "utf8")
    .split("\0")
    .map((line) => line.split("=")[0]);
  expect(names.filter(Boolean).sort()).toEqual(["HOME", "LANG", "PATH"]);
  await stop(program, "SIGTERM");
});

test("a statement that needs too much memory is stopped with 2, and a sentence", async () => {
  const home = makeHome();
  const db = await mirrorOfOrders(home);
  const numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
  const sql = `${numbers} SELECT json_group_array(hex(zeroblob(100000))) FROM c`;
  const ended = await spawnBrandapi(["query", sql, "--db", db], { home }).ended;
  const says = /^brandapi: This needs too much memory: it was stopped at 1 GB\.\n {2}hint: ask for less/;
  expectSeen({ ...ended, code: ended.code ?? -1, home }, { code: 2, says }, []);
});

/** Node's flags for a program whose files never come to their place, as on a network disk that does not answer. */
function hungDisk(home: string): readonly [string, ...string[]] {
  const preload = join(home, "preload.cjs");
  writeFileSync(
    preload,
    `require("node:fs/promises").rename = () => new Promise((done) => setTimeout(done, 1e6));
     require("node:module").syncBuiltinESMExports();`,
  );
  return [process.execPath, "--require", preload];
}

test("what a killed export left behind goes with the next one, and what a living one writes stays", async () => {
  const home = makeHome();
  const db = await mirrorOfOrders(home, 3_000);
  const args = ["export", "orders", "--json", "-o", "out.json", "--db", db];
  const begun = async () => {
    const program = spawnBrandapi(args, { home, node: hungDisk(home) });
    const ours = () => partsIn(home).filter((name) => name.includes(`-${program.child.pid}-`));
    await until(() => ours().length === 1);
    return { program, part: ours() };
  };
  const killed = await begun();
  await stop(killed.program, "SIGKILL");
  expect(partsIn(home)).toEqual(killed.part);
  const living = await begun();
  expect(partsIn(home)).toEqual(living.part);
  expect(await spawnBrandapi(args, { home }).ended).toMatchObject({ code: 0 });
  expect(partsIn(home)).toEqual(living.part);
  // Its clean stop waits for the disk, in vain.
  expect(await stop(living.program, "SIGTERM")).toMatchObject({ code: 143, signal: null });
  expect(partsIn(home)).toEqual([]);
});
