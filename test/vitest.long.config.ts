import { mergeConfig } from "vitest/config";
import { baseConfig } from "./vitest.config.js";

/**
 * `npm run test:long`: tests that inherently take minutes. These are the files `*.long.ts`, and tests with random
 * scenarios and seeds, of which `npm test` runs only the first few.
 */
export default mergeConfig(baseConfig, {
  test: {
    include: ["test/**/*.long.ts", "test/properties/*.test.ts", "test/commands/challenge.test.ts"],
    testTimeout: 600_000,
    env: { TEST_LONG: "yes", PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? "40" },
  },
});
