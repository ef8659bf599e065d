import { expect, test } from "vitest";
import type { InterceptedRequest } from "../support/old-sandbox/index.js";
import { spawnBrandapi } from "../support/process.js";
import { type Brand, brandForTest, day, type Told } from "./brand.js";

const detailOf = (path: string) => /\/(?:opportunities|surveys)\/([^/?]+)/.exec(path)?.[1];

function detailsAsked({ requests }: Pick<Told, "requests">): string[] {
  return requests.map(({ path }) => detailOf(path)).filter((id) => id !== undefined);
}

/** Runs until so many details were asked for, and stops the process there. It has the real clock, as the brand must. */
async function stoppedAt(brand: Brand, resource: string, details: number, signal: NodeJS.Signals) {
  const before = brand.sandbox.log.length;
  const program = spawnBrandapi(["sync", resource], { env: brand.env(), home: brand.home });
  let count = 0;
  brand.sandbox.intercept = ({ path }: InterceptedRequest) => {
    if (detailOf(path) === undefined) return;
    count += 1;
    if (count === details) program.child.kill(signal);
  };
  await program.ended;
  brand.sandbox.intercept = undefined;
  return detailsAsked({ requests: brand.sandbox.log.slice(before) });
}

test.each([
  ["opportunities", "SIGINT", 0.6],
  ["opportunities", "SIGKILL", 0.6],
  ["surveys", "SIGINT", 0.8],
] as const)(
  "%s stopped by %s while details are read: the next run goes on there",
  async (resource, signal, most) => {
    const brand = await brandForTest({ latencyMs: 20, now: Date.now() });
    const whole = await brandForTest({ now: Date.now() });
    const all = new Set(detailsAsked(await whole.run(`sync ${resource}`))).size;
    const first = await stoppedAt(brand, resource, Math.floor(all * 0.9), signal);
    const next = await brand.run(`sync ${resource}`);
    expect(next.code, next.err).toBe(0);
    const second = new Set(detailsAsked(next));
    // Four are under way at once, and what was not written is asked for again.
    expect(second.size).toBeLessThanOrEqual(Math.ceil(all * most));
    expect(new Set([...first, ...second]).size).toBe(all);
    // When nothing was left, the next run reads what it always does.
    expect(detailsAsked(await brand.run(`sync ${resource}`)).length).toBeGreaterThan(second.size);
  },
);

test("details that are never all read in one night are all read in some: what was read longest ago comes first", async () => {
  const brand = await brandForTest({ latencyMs: 20, now: Date.now() });
  const all = detailsAsked(await (await brandForTest({ now: Date.now() })).run("sync opportunities"));
  const seen = new Set<string>();
  for (let night = 0; night < 4; night += 1) {
    for (const id of await stoppedAt(brand, "opportunities", Math.ceil(all.length / 3), "SIGINT"))
      seen.add(id);
    brand.sandbox.advance(day);
  }
  expect(seen.size).toBe(all.length);
});
