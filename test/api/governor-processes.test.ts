import { spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { temporaryFolder } from "./support.js";

const root = join(import.meta.dirname, "../..");
const windowMs = 1_200;
const rateLimit = 20;

/** A program that sends `count` requests, three at once, each under way for a few milliseconds. */
const program = `
import { openGovernor } from "./dist/governor.js";
import { systemClock as clock } from "./dist/deps.js";
const [statePath, count] = process.argv.slice(2);
const settings = { origin: "https://api.test", key: "k", rateLimit: ${rateLimit}, windowMs: ${windowMs}, statePath };
const governor = openGovernor(settings, { clock });
const signal = new AbortController().signal;
let left = Number(count);
async function send() {
  while (left-- > 0) {
    const place = await governor.take(signal);
    const sent = clock.monotonic();
    await clock.sleep(5 * Math.random());
    place.answered(null);
    console.log(JSON.stringify({ sent, answered: clock.monotonic() }));
  }
}
await Promise.all([send(), send(), send()]);
`;

it("two processes on one key never send more than the limit in any window, and both get through", async () => {
  const folder = temporaryFolder();
  const input = { governor: join(root, "src/api/governor.ts"), deps: join(root, "src/deps.ts") };
  const bundle = await rolldown({ input, platform: "node", external: /^[^./]/ });
  await bundle.write({ dir: join(folder, "dist") });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "send.js"), program);
  const sends = (await Promise.all([run(folder, 30), run(folder, 30)])).flat();
  expect(sends).toHaveLength(60);
  const sent = sends.map((each) => each.sent).sort((a, b) => a - b);
  const answered = sends.map((each) => each.answered).sort((a, b) => a - b);
  for (let each = 0; each + rateLimit < sends.length; each += 1) {
    // However long the network took within [sent, answered], the server's window saw no more than the limit.
    expect((sent[each + rateLimit] ?? 0) - (answered[each] ?? 0)).toBeGreaterThanOrEqual(windowMs);
  }
}, 30_000);

async function run(folder: string, count: number): Promise<{ sent: number; answered: number }[]> {
  const child = spawn(process.execPath, ["send.js", join(folder, "state"), String(count)], { cwd: folder });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { sent: number; answered: number });
}
