import { describe, expect, test } from "vitest";
import { sandboxForTest } from "../support/sandbox.js";
import { hasTerminal, inTerminal } from "../support/terminal.js";

const esc = String.fromCharCode(27);

describe.skipIf(!hasTerminal)("in a real terminal", () => {
  test.each([
    ["sync roster", 0],
    ["whoami", 0],
    ["sync nothing", 2],
    ["query nonsense", 3],
  ])(
    "`%s --no-progress --no-color` sends no escape at all, not even for the cursor",
    async (command, code) => {
      const sandbox = await sandboxForTest();
      const env = { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: sandbox.key };
      const run = inTerminal([...command.split(" "), "--no-progress", "--no-color"], { env });
      expect(await run.ended, run.output()).toBe(code);
      expect(run.output()).not.toBe("");
      expect(run.output()).not.toContain(esc);
    },
  );

  test("Ctrl-C ends a sync with a bar, and the cursor was never hidden", async () => {
    const sandbox = await sandboxForTest({ latencyMs: 50 });
    const env = { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: sandbox.key };
    const run = inTerminal(["sync", "orders"], { env });
    await run.until(/requests done/);
    run.type("\u0003");
    expect(await run.ended, run.output()).toBe(130);
    expect(run.output()).not.toContain(`${esc}[?25l`);
  });

  test("login asks again for a wrong key, shows neither of the two, and Ctrl-C ends it", async () => {
    const sandbox = await sandboxForTest();
    const run = inTerminal(["login", "--base-url", sandbox.baseUrl]);
    await run.until(/not shown\): $/);
    run.type("brk_wrong_key\r");
    await run.until(/rejected the key[\s\S]*not shown\): $/);
    run.type(`${sandbox.key}\r`);
    expect(await run.ended, run.output()).toBe(0);
    expect(run.output()).toContain("Fjell & Fern");
    for (const key of ["brk_wrong_key", sandbox.key]) expect(run.output()).not.toContain(key);
    const stopped = inTerminal(["login", "--base-url", sandbox.baseUrl]);
    await stopped.until(/not shown\): $/);
    stopped.type("\u0003");
    expect(await stopped.ended).toBe(130);
  });
});
