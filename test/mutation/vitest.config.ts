import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The short files first: most broken lines are seen by them. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).reverse();
  }
}

/** The tests of what is mutated: all in this process, so that `dist` is not built. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: [
      "test/sync/*.test.ts",
      "test/verify/*.test.ts",
      "test/mirror/{coverage,ranges}.test.ts",
      "test/properties/counterexamples.test.ts",
    ],
    setupFiles: ["test/support/each-file.ts"],
    testTimeout: 60_000,
    // Modules are loaded once for all mutants: a test is then a few milliseconds.
    isolate: false,
    sequence: { sequencer: ShortestFirst },
  },
});
