import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Runs short test files first, because they kill most mutants. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).reverse();
  }
}

// To mutate a folder other than the sync core, run `FOLDER=export npm run mutation -- --mutate "src/export/*.ts"`.
const tests = process.env.FOLDER
  ? [`test/${process.env.FOLDER}/*.test.ts`]
  : [
      "test/sync/*.test.ts",
      "test/verify/*.test.ts",
      "test/store/{coverage,faulty-slices,state-update,sync-state}.test.ts",
      "test/util/ranges.test.ts",
      "test/properties/counterexamples.test.ts",
    ];

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: tests,
    setupFiles: ["test/support/each-file.ts", "test/mutation/load.ts"],
    testTimeout: 30_000,
    // Loading the modules only once for all mutants reduces the duration of each test to milliseconds.
    isolate: false,
    sequence: { sequencer: ShortestFirst },
  },
});
