import { expect, test } from "vitest";
import { commands } from "../support/commands.js";
import { spawnBrandapi } from "../support/process.js";

test.each(commands.map((command) => command.name()))(
  "`brandapi %s --help` does not open a database, a connection or a user's file",
  async (name) => {
    const { code, out, err } = await watched([name, "--help"]).ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Usage: brandapi /);
  },
);

test("the test for --help detects a command that opens files or connections", async () => {
  const { code, err } = await watched(["sync"], {
    BRANDAPI_BASE_URL: "http://127.0.0.1:9/api/brand/v1",
    BRANDAPI_KEY: "none",
  }).ended;
  expect({ code, err }).toEqual({ code: 99, err: expect.stringMatching(/^not on the way to help: /) });
});

/**
 * Runs the program under help-watch.cjs, which kills the process if it opens a database, a connection or a user file.
 */
function watched(args: readonly string[], env: Record<string, string> = {}) {
  const watch = new URL("help-watch.cjs", import.meta.url).pathname;
  return spawnBrandapi(args, { env, node: [process.execPath, "--require", watch] });
}
