import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** They replace modules, or what Node's own do, for as long as their process lives. */
const alone = ["test/api/{refusals,transport}.test.ts", "test/download/disk.test.ts"];

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    globalSetup: ["test/support/build.ts"],
    setupFiles: ["test/support/each-file.ts"],
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
