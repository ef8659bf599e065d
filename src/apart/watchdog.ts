import { rmSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { parentPort } from "node:worker_threads";

/** A thread that ends its process: when whoever started that has let go of it or died, and when it takes too much memory. */
const lifeline = 3;
/** Bytes, of the whole process: what a sort or a long text takes in SQLite, and what JavaScript takes. */
const mostMemory = 1e9;
const lookMs = 50;

let parts: readonly string[] = [];
parentPort?.on("message", (now: readonly string[]) => {
  parts = now;
});

new Socket({ fd: lifeline })
  .on("close", end)
  .on("error", () => {})
  .resume();

setInterval(() => {
  if (process.memoryUsage.rss() < mostMemory) return;
  writeSync(lifeline, "memory");
  end();
}, lookMs);

function end(): void {
  for (const path of parts) rmSync(path, { force: true });
  process.kill(process.pid, "SIGKILL");
}
