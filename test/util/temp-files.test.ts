import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { releaseTempFile, removeTempFiles, reserveTempFile } from "../../src/util/temp-files.js";
import { makeHome } from "../support/home.js";
import { until } from "../support/process.js";

test.runIf(existsSync("/proc/self/stat"))(
  "temporary files of a killed process are removed even while the process is a zombie",
  async () => {
    const target = join(makeHome(), "orders.csv");
    // `exec` replaces the shell with a process that never waits for its child, so the killed child remains a zombie.
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 61"]);
    onTestFinished(() => void parent.kill());
    const [output] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = output.toString().trim();
    await until(() => readFileSync(`/proc/${parent.pid}/cmdline`, "utf8").startsWith("sleep"));
    process.kill(Number(pid));
    await until(() => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "));
    const path = await reserveTempFile(target, () => 0);
    releaseTempFile(path);
    const stale = path.replace(`-${process.pid}-`, `-${pid}-`);
    writeFileSync(stale, "");
    writeFileSync(`${stale}-journal`, "");
    releaseTempFile(await reserveTempFile(target, () => 0));
    expect([existsSync(stale), existsSync(`${stale}-journal`)]).toEqual([false, false]);
  },
);

test("the name of a temporary file starts with a dot, and contains the target's name, the host name, the process ID and a random number", async () => {
  const target = join(makeHome(), `${"n".repeat(60)}-longer.csv`);
  const path = await reserveTempFile(target, () => 0.000_042);
  releaseTempFile(path);
  expect(basename(path)).toMatch(new RegExp(`^\\.n{60}\\.[\\w-]{0,32}-${process.pid}-000042\\.part$`));
});

test("reserving a temporary file removes older temporary files for the same target, unless a running process on this host uses them", async () => {
  const folder = makeHome();
  const target = join(folder, "orders.csv");
  const used = await reserveTempFile(target, () => 0.1);
  const name = basename(used);
  const withPid = (pid: number) => name.replace(`-${process.pid}-`, `-${pid}-`);
  const kept = [
    name,
    withPid(process.ppid),
    withPid(2 ** 30).replace(".orders.csv.", ".orders.csv.otherhost"),
    withPid(2 ** 30).replace(".orders.csv.", ".roster.csv."),
    `${withPid(2 ** 30)}.bak`,
    withPid(2 ** 30).replace(".part", ".tmp"),
  ];
  const stale = [
    name.replace("-100000.", "-200000."),
    ...["", "-journal", "-wal", "-shm"].map((suffix) => withPid(2 ** 30) + suffix),
  ];
  for (const file of [...kept, ...stale]) writeFileSync(join(folder, file), "");
  writeFileSync(`${used}-wal`, "");
  releaseTempFile(await reserveTempFile(target, () => 0.3));
  expect(readdirSync(folder).sort()).toEqual([...kept, `${name}-wal`].sort());
  releaseTempFile(used);
});

test("removeTempFiles removes all reserved temporary files and the SQLite files next to them, but not files that were released", async () => {
  const folder = makeHome();
  const [reserved, released] = [
    await reserveTempFile(join(folder, "a"), () => 0),
    await reserveTempFile(join(folder, "b"), () => 0),
  ];
  releaseTempFile(released);
  for (const suffix of ["", "-journal", "-wal", "-shm"]) writeFileSync(reserved + suffix, "");
  writeFileSync(released, "");
  removeTempFiles();
  releaseTempFile(reserved);
  expect(readdirSync(folder)).toEqual([basename(released)]);
});
