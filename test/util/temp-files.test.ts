import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { releaseTempFile, reserveTempFile } from "../../src/util/temp-files.js";
import { makeHome } from "../support/home.js";
import { until } from "../support/process.js";

test.runIf(existsSync("/proc/self/stat"))(
  "reserveTempFile removes the files of a killed process whose parent has not read its exit status",
  async () => {
    const target = join(makeHome(), "orders.csv");
    // `sleep 60` replaces the shell and does not wait for the shell's child, which therefore remains a zombie.
    const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 60"]);
    onTestFinished(() => void parent.kill());
    const [output] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = output.toString().trim();
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
