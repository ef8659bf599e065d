import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The short files first: most broken lines are seen by them. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).reverse();
  }
}

/**
 * The tests of what is mutated. Of another room than the core, by its name:
 * `ROOM=export npm run mutation -- --mutate "src/export/formats/*.ts"`.
 */
const tests = process.env.ROOM
  ? [`test/${process.env.ROOM}/*.test.ts`]
  : [
      "test/sync/*.test.ts",
      "test/verify/*.test.ts",
      "test/store/{coverage,ranges}.test.ts",
      "test/properties/counterexamples.test.ts",
    ];

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: tests,
    setupFiles: ["test/support/each-file.ts", "test/mutation/load.ts"],
    testTimeout: 60_000,
    // Modules are loaded once for all mutants: a test is then a few milliseconds.
    isolate: false,
    sequence: { sequencer: ShortestFirst },
  },
});
