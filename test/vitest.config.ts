import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Returns an in-memory folder if there is one that has enough space and allows executable scripts, because tests create
 * hundreds of mirrors. In containers, `/dev/shm` is often too small or mounted with `noexec`.
 */
function fastFolder(): string {
  if (!existsSync("/dev/shm") || !existsSync("/proc/mounts")) return tmpdir();
  const { bavail, bsize } = statfsSync("/dev/shm");
  const isNoexec = /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync("/proc/mounts", "utf8"));
  return bavail * bsize < 1e9 || isNoexec ? tmpdir() : "/dev/shm";
}

/** Tests that replace Node's modules or functions for the lifetime of their process. */
const alone = [
  "test/api/{api-errors,transport}.test.ts",
  "test/download/full-disk.test.ts",
  "test/config/no-permissions.test.ts",
  "test/export/exclusive-link.test.ts",
];

/** The longest test files. They start first, so that none of them runs alone at the end. */
const longest = [
  "report/browser",
  "faults/processes",
  "commands/backup",
  "commands/redaction",
  "docs/examples",
  "commands/demo",
  "query/as-of",
  "properties/scenarios",
  "properties/variants",
];

/** Vitest knows a file's duration only if it has run the file before on the same machine. */
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

/** The settings for `npm test` and `npm run test:long`. */
export const baseConfig = defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/each-file.ts"],
    env: { TMPDIR: fastFolder() },
    // On an idle machine, the longest test takes 5 seconds.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One more worker than a small machine has cores, because tests often wait for processes.
    maxWorkers: 3,
    // The first option leaves the cores to the other workers. The second limits a worker's memory to about 300 MB.
    execArgv: ["--single-threaded-gc", "--heap-growing-percent=50"],
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
