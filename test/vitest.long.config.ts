import { mergeConfig } from "vitest/config";
import { baseConfig } from "./vitest.config.js";

/**
 * The configuration for `npm run test:long`, which runs the slow tests in `*.long.ts` and more random scenarios than
 * `npm test` does.
 */
export default mergeConfig(baseConfig, {
  test: {
    include: ["test/**/*.long.ts", "test/properties/*.test.ts", "test/commands/challenge.test.ts"],
    testTimeout: 600_000,
    env: { TEST_LONG: "yes", PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? "40" },
  },
});
