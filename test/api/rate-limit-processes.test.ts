import { spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { temporaryFolder } from "./support.js";

const root = join(import.meta.dirname, "../..");
/** A window shorter than a minute keeps the test fast. */
const windowMs = 3_000;
const [processes, requestsEach, rateLimit] = [8, 15, 60];

/** Sends two requests at a time, each of which takes a few milliseconds. */
const program = `
import { RateLimiter } from "./dist/rateLimit.js";
import { systemClock as clock } from "./dist/deps.js";
const settings = { baseUrl: "https://api.test/", key: "k", rateLimit: ${rateLimit}, statePath: process.argv[2] };
const onNotice = ({ message }) => { throw new Error(message); };
const limiter = new RateLimiter(settings, clock, { onNotice }, ${windowMs});
const signal = new AbortController().signal;
let left = ${requestsEach};
async function send() {
  while (left-- > 0) {
    const permit = await limiter.acquire(signal);
    const sent = clock.monotonic();
    await clock.sleep(5 * Math.random());
    const answered = clock.monotonic();
    limiter.endRequest(permit, null);
    console.log(JSON.stringify({ sent, answered }));
  }
}
await Promise.all([send(), send()]);
`;

it("8 processes that share an API key send at most 60 requests in any window, and all of them finish", async () => {
  const folder = temporaryFolder();
  const input = { rateLimit: join(root, "src/api/rate-limit.ts"), deps: join(root, "src/deps.ts") };
  const bundle = await rolldown({ input, platform: "node", external: /^[^./]/ });
  await bundle.write({ dir: join(folder, "dist") });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "send.js"), program);
  const sends = (await Promise.all(Array.from({ length: processes }, () => run(folder)))).flat();
  expect(sends).toHaveLength(processes * requestsEach);
  const sent = sends.map((request) => request.sent).sort((a, b) => a - b);
  const answered = sends.map((request) => request.answered).sort((a, b) => a - b);
  for (let at = 0; at + rateLimit < sends.length; at += 1) {
    // The server may count a request at any time between receiving and answering it. In the worst case, it counts a
    // window's first request late and its last request early.
    expect((sent[at + rateLimit] ?? 0) - (answered[at] ?? 0)).toBeGreaterThanOrEqual(windowMs);
  }
});

async function run(folder: string): Promise<{ sent: number; answered: number }[]> {
  const child = spawn(process.execPath, ["send.js", join(folder, "state")], { cwd: folder });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { sent: number; answered: number });
}
