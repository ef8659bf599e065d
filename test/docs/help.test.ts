import { describe, expect, test } from "vitest";
import { commands, examplesOf } from "../support/commands.js";
import { spawnBrandapi } from "../support/process.js";
import { parses } from "./parses.js";
import { brandapiCalls } from "./words.js";

describe.each(commands.map((one) => [one.name(), one] as const))("the help of %s", (name, command) => {
  test.each(examplesOf(command))("its example parses: %s", async (example) => {
    const calls = brandapiCalls(example);
    expect(calls).toHaveLength(1);
    for (const words of calls) expect(await parses(words)).toBe("");
  });

  test("opens no database, no network and no file of the person's", async () => {
    const { code, out, err } = await watched([name, "--help"]).ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Usage: brandapi /);
  });
});

test("the watch that these tests rely on ends a sync", async () => {
  const { code, err } = await watched(["sync"], {
    BRANDAPI_BASE_URL: "http://127.0.0.1:9/api/brand/v1",
    BRANDAPI_KEY: "none",
  }).ended;
  expect({ code, err }).toEqual({ code: 99, err: expect.stringMatching(/^not on the way to help: /) });
});

/** Runs the program so that it ends at once, and says so, when it opens what help has no use for. */
function watched(args: readonly string[], env: Record<string, string> = {}) {
  const watch = new URL("help-watch.cjs", import.meta.url).pathname;
  return spawnBrandapi(args, { env, node: [process.execPath, "--require", watch] });
}
