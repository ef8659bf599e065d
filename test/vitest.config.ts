import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * Hundreds of mirrors are made: in memory, where the system has room for them, and lets scripts be started there, as
 * some tests do. A container's own is often too small, or lets nothing be started.
 */
function fastFolder(): string {
  if (!existsSync("/dev/shm") || !existsSync("/proc/mounts")) return tmpdir();
  const { bavail, bsize } = statfsSync("/dev/shm");
  const isNoexec = /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync("/proc/mounts", "utf8"));
  return bavail * bsize < 1e9 || isNoexec ? tmpdir() : "/dev/shm";
}

/** They replace modules, or what Node's own do, for as long as their process lives. */
const alone = ["test/api/{refusals,transport}.test.ts", "test/download/disk.test.ts"];

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/each-file.ts"],
    env: { TMPDIR: fastFolder() },
    testTimeout: 60_000,
    // Two cores are what the smallest machine has, and much of the work is waiting; files share nothing but the build.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: { name: "together", include: ["test/**/*.test.ts"], exclude: alone, isolate: false },
      },
    ],
  },
});
