import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Returns an in-memory folder if possible, because tests create hundreds of mirrors. In containers, `/dev/shm` is often
 * too small, or is mounted with `noexec`, which prevents tests from running scripts.
 */
function fastFolder(): string {
  if (!existsSync("/dev/shm") || !existsSync("/proc/mounts")) return tmpdir();
  const { bavail, bsize } = statfsSync("/dev/shm");
  const isNoexec = /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync("/proc/mounts", "utf8"));
  return bavail * bsize < 1e9 || isNoexec ? tmpdir() : "/dev/shm";
}

/** Tests that replace Node's modules, and would therefore affect other tests in the same process. */
const alone = ["test/api/{api-errors,transport}.test.ts"];

/** The slowest test files, which start first so that none of them runs alone at the end. */
const longest = [
  "report/browser",
  "faults/processes",
  "commands/backup",
  "commands/redaction",
  "docs/tutorial",
  "commands/demo",
  "query/as-of",
  "properties/scenarios",
  "properties/variants",
];

/** Replaces Vitest's default file order, which depends on how long earlier runs took on this machine. */
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

export const baseConfig = defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/each-file.ts"],
    env: { TMPDIR: fastFolder() },
    // The slowest test takes 4 seconds on an idle machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Three workers keep two cores busy, because tests often wait for other processes.
    maxWorkers: 3,
    // The first option keeps garbage collection off the other workers' cores. The second limits each worker's memory to
    // about 300 MB.
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
