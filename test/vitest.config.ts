import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

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
const alone = [
  "test/api/{api-errors,transport}.test.ts",
  "test/download/full-disk.test.ts",
  "test/config/no-permissions.test.ts",
  "test/export/exclusive-link.test.ts",
];

/** The longest: one that began last would have the machine to itself. Of the others, the largest files begin. */
const longest = [
  "soak/kill",
  "properties/scenarios",
  "faults/processes",
  "report/browser",
  "stories/stories",
  "conformance/faithful",
];

/** Vitest itself knows how long files take only where it has run before. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`)) + 1 || longest.length + 1;
    return (await super.sort(files)).sort(
      (a, b) =>
        Number(a.project.name !== "alone") - Number(b.project.name !== "alone") || place(a) - place(b),
    );
  }
}

/** The settings of `npm test` and `npm run test:long`. */
export const baseConfig = defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/each-file.ts"],
    env: { TMPDIR: fastFolder() },
    testTimeout: 60_000,
    // Two cores are what the smallest machine has, and much of the work is waiting; files share nothing but the build.
    maxWorkers: 3,
  },
});

export default mergeConfig(baseConfig, {
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: { name: "together", include: ["test/**/*.test.ts"], exclude: alone, isolate: false },
      },
    ],
  },
});
