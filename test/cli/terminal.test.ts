import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { hasTerminal, inTerminal } from "./pseudo-terminal.js";

/** Never resolves, so that a response that awaits this promise is never sent. */
const never = new Promise(() => {});
const esc = String.fromCharCode(27);

const terminalTest = test.skipIf(!hasTerminal);

test.each([
  ["sync roster", 0],
  ["whoami", 0],
  ["sync nothing", 2],
  ["query nonsense", 3],
])("`brandapi %s --no-progress --no-color` prints no escape sequences", async (command, code) => {
  const brand = makeBrand({ history: 50 });
  const run = await brand.run(`${command} --no-progress --no-color`, { tty: true });
  expect(run.code, run.err).toBe(code);
  expect(run.out + run.err).not.toBe("");
  expect(run.out + run.err).not.toContain(esc);
});

terminalTest("Ctrl-C ends a sync that shows its progress line, and leaves the cursor visible", async () => {
  const env = await makeBrand({ history: 300 }).served((requests) => (requests > 4 ? never : undefined));
  const run = inTerminal(["sync", "orders"], { env });
  await run.until(/requests done/);
  run.type("\u0003");
  expect(await run.ended, run.output()).toBe(130);
  expect(run.output()).not.toContain(`${esc}[?25l`);
});

terminalTest.each([
  ["a wrong key", 4],
  ["the key", 0],
])("login does not show %s while it is typed, and exits with code %i", async (which, code) => {
  const brand = makeBrand();
  const { BRANDAPI_BASE_URL: baseUrl = "" } = await brand.served();
  const key = which === "the key" ? brand.key : "brk_wrong_key";
  const run = inTerminal(["login", "--base-url", baseUrl]);
  await run.until(/not shown\): $/);
  run.type(`${key}\r`);
  expect(await run.ended, run.output()).toBe(code);
  expect(run.output()).not.toContain(key);
});

terminalTest("Ctrl-C ends login during a prompt", async () => {
  const { BRANDAPI_BASE_URL: baseUrl = "" } = await makeBrand().served();
  const run = inTerminal(["login", "--base-url", baseUrl]);
  await run.until(/not shown\): $/);
  run.type("\u0003");
  expect(await run.ended).toBe(130);
});
