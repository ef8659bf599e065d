import { describe, expect, test } from "vitest";
import { commands, examplesOf } from "../support/commands.js";
import { spawnBrandapi } from "../support/process.js";
import { parses } from "./parses.js";
import { brandapiCalls } from "./words.js";

describe.each(commands.map((one) => [one.name(), one] as const))("the help for %s", (name, command) => {
  test.each(examplesOf(command))("the example `%s` parses", async (example) => {
    const calls = brandapiCalls(example);
    expect(calls).toHaveLength(1);
    for (const words of calls) expect(await parses(words)).toBe("");
  });

  test("help opens no database, no connection and no user file", async () => {
    const { code, out, err } = await watched([name, "--help"]).ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Usage: brandapi /);
  });
});

test("help-watch.cjs stops a sync, so these tests detect forbidden access", async () => {
  const { code, err } = await watched(["sync"], {
    BRANDAPI_BASE_URL: "http://127.0.0.1:9/api/brand/v1",
    BRANDAPI_KEY: "none",
  }).ended;
  expect({ code, err }).toEqual({ code: 99, err: expect.stringMatching(/^not on the way to help: /) });
});

/** Runs the program with help-watch.cjs, which ends the program if it opens something that help does not need. */
function watched(args: readonly string[], env: Record<string, string> = {}) {
  const watch = new URL("help-watch.cjs", import.meta.url).pathname;
  return spawnBrandapi(args, { env, node: [process.execPath, "--require", watch] });
}
