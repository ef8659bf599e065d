import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { sandboxForTest } from "../support/sandbox.js";
import { envOf } from "./matrix.js";

/** What a process holds now; its memory is the most that it ever held. In bytes. */
function holding(pid: number, mirror: string) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    memory: number("VmHWM") * 1_024,
    threads: number("Threads"),
    files: readdirSync(`/proc/${pid}/fd`).length,
    log: statSync(`${mirror}-wal`, { throwIfNoEntry: false })?.size ?? 0,
  };
}

test.runIf(process.platform === "linux")(
  "a whole sync stays within the memory, open files, threads and log beside the mirror that are stated",
  async () => {
    const sandbox = await sandboxForTest({ orders: 10_000, pace: 0 });
    const home = makeHome();
    const mirror = join(home, "mirror.sqlite");
    const program = spawnBrandapi(["sync"], { home, env: envOf(sandbox, home, sandbox.key) });
    const most = { memory: 0, threads: 0, files: 0, log: 0 };
    sandbox.intercept = () => {
      for (const [name, value] of Object.entries(holding(program.child.pid ?? 0, mirror)))
        most[name as keyof typeof most] = Math.max(most[name as keyof typeof most], value);
      return undefined;
    };
    const { code, err } = await program.ended;
    expect(code, err).toBe(0);
    // What .github/SECURITY.md states.
    expect(most.memory).toBeLessThan(200e6);
    expect(most.files).toBeLessThan(64);
    expect(most.threads).toBeLessThan(24);
    expect(most.log).toBeLessThan(64e6);
    for (const value of Object.values(most)) expect(value).toBeGreaterThan(0);
  },
);
