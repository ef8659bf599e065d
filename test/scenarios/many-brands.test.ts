import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { graver } from "../../src/commands/each-profile.js";
import { Stopped } from "../../src/errors.js";
import { brandsForTest } from "../support/brands.js";
import { spawnBrandapi } from "../support/process.js";

/** Three brands: the second one's key was revoked since. */
async function threeBrands() {
  const brands = await brandsForTest();
  const { keys, key } = brands.sandbox;
  await brands.login("acme", key);
  await brands.login("basalt", keys["other-brand"].secret);
  await brands.login("core", keys["no-plan"].secret);
  brands.sandbox.setKey("other-brand", { revoked: true });
  return brands;
}

describe("sync --all-profiles", () => {
  test("syncs one brand after another into mirrors of their own; one that fails stops no other", async () => {
    const brands = await threeBrands();
    const { code, out, err } = await brands.run("sync roster codes --all-profiles");
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toMatch(
      /^\[acme\]\nroster: \d+ read.*verified\ncodes: .*\nbrandapi: basalt: The API rejected the key \(401\).*\n {2}hint: .*`brandapi login --profile basalt`.*\n\[core\]\nroster: \d+ read.*verified\ncodes: .*\n$/,
    );
    for (const profile of ["acme", "core"]) expect(existsSync(brands.mirrorOf(profile))).toBe(true);
    expect(existsSync(brands.mirrorOf("basalt"))).toBe(false);
    expect((await brands.run("sync roster --all-profiles --quiet")).err).toMatch(
      /^brandapi: basalt: The API rejected the key.*\n.*\n$/,
    );
  });

  test("bears each profile's name in JSON, errors too", async () => {
    const brands = await threeBrands();
    const { out } = await brands.run("sync roster --all-profiles --json");
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { profile: "acme", resource: "roster", outcome: "done" },
      { profile: "basalt", error: { code: "unauthorized" } },
      { profile: "core", resource: "roster", outcome: "done" },
    ]);
    const plans = await brands.run("sync roster --all-profiles --dry-run --json");
    expect(plans.out).toMatch(/^{"profile":"acme","resources":\[{"resource":"roster"/m);
    const single = await brands.run("sync roster --profile acme --json");
    expect(JSON.parse(single.out)).not.toHaveProperty("profile");
  });

  test("uses what each profile stored, whatever one brand's variables say, and takes no flag of one brand", async () => {
    const brands = await threeBrands();
    const elsewhere = join(brands.home, "elsewhere.sqlite");
    const env = {
      BRANDAPI_KEY: "brk_nobody",
      BRANDAPI_BASE_URL: "https://nowhere.example/api/brand/v1",
      BRANDAPI_DB: elsewhere,
      BRANDAPI_PROFILE: "nobody",
    };
    expect((await brands.run("sync roster --all-profiles", { env })).code).toBe(4);
    expect(existsSync(elsewhere)).toBe(false);
    expect(existsSync(brands.mirrorOf("acme"))).toBe(true);
    for (const flag of [
      "--profile acme",
      "--db x.sqlite",
      "--key-file k",
      `--base-url ${brands.sandbox.baseUrl}`,
    ]) {
      const { code, err } = await brands.run(`sync --all-profiles ${flag}`);
      expect(code).toBe(2);
      expect(err).toContain(`\`${flag.split(" ")[0]}\` is for one brand`);
    }
  });

  test("begins with the brand that was read longest ago, so that none is always the last", async () => {
    const brands = await brandsForTest();
    await brands.login("acme", brands.sandbox.key);
    await brands.login("basalt", brands.sandbox.keys["other-brand"].secret);
    await brands.run("sync roster --profile acme");
    const order = async () => {
      const { err } = await brands.run("sync roster --all-profiles");
      return [...err.matchAll(/^\[(\w+)\]$/gm)].map(([, name]) => name);
    };
    expect(await order()).toEqual(["basalt", "acme"]);
    await brands.run("sync roster --profile basalt");
    expect(await order()).toEqual(["acme", "basalt"]);
  });

  test("a wrong command line is said once, and no brand at all is exit 3", async () => {
    const brands = await threeBrands();
    const wrong = await brands.run("sync rostr --all-profiles");
    expect(wrong.code).toBe(2);
    expect(wrong.err.match(/Unknown resource/g)).toHaveLength(1);
    const none = await (await brandsForTest()).run("sync --all-profiles");
    expect(none.code).toBe(3);
    expect(none.err).toContain("No brand is set up here.");
  });

  test("a brand without a stored key is left out, and said", async () => {
    const brands = await threeBrands();
    await brands.run("sync roster --profile acme");
    await brands.run("logout --profile acme");
    const { err } = await brands.run("sync roster --all-profiles");
    expect(err).toMatch(/^acme: skipped: no key is stored for it\n/);
    expect(err).not.toContain("[acme]");
  });

  test("an origin that is away is waited for once, not once a brand", async () => {
    const brands = await threeBrands();
    let skipped = 0;
    const clock = {
      now: () => Date.now() + skipped,
      monotonic: () => performance.now() + skipped,
      async sleep(ms: number) {
        skipped += ms;
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
    const away = () =>
      Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } }));
    const { code, err } = await brands.run("sync --all-profiles", { fetch: away, clock });
    expect(code).toBe(6);
    expect(err.match(/^brandapi: (acme|basalt|core): /gm)).toHaveLength(3);
    expect(skipped).toBeGreaterThan(200_000);
    expect(skipped).toBeLessThan(400_000);
  });

  test("Ctrl-C stops all of them", async () => {
    const brands = await threeBrands();
    const stop = brands.sandbox;
    const env = { BRANDAPI_RATE_LIMIT: "none" };
    const run = spawnBrandapi(["sync", "--all-profiles"], { home: brands.home, env });
    stop.intercept = ({ path }) => {
      if (path === "/orders") run.child.kill("SIGINT");
    };
    const { code, err } = await run.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/^\[acme\]\n/);
    expect(err).not.toMatch(/basalt|core/);
    expect(err.match(/Stopped\./g)).toHaveLength(1);
  });
});

test("two brands of one machine never send more than 120 requests in a minute", async () => {
  const brands = await brandsForTest({ rateLimit: null, orders: 5_000 });
  await brands.login("acme", brands.sandbox.key);
  await brands.login("basalt", brands.sandbox.keys["other-brand"].secret);
  const before = brands.sandbox.log.length;
  const sent: { at: number; key: string }[] = [];
  let skipped = 0;
  const { code } = await brands.run("sync --all-profiles", {
    env: { BRANDAPI_RATE_LIMIT: "40" },
    clock: {
      now: () => Date.now() + skipped,
      monotonic: () => performance.now() + skipped,
      async sleep(ms: number) {
        skipped += ms;
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
    async fetch(url, init) {
      sent.push({
        at: performance.now() + skipped,
        key: String(new Headers(init?.headers).get("authorization")),
      });
      return await fetch(url, init);
    },
  });
  expect(code).toBe(0);
  expect(brands.sandbox.log.length - before).toBe(sent.length);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  for (const { at } of sent) {
    const inMinute = sent.filter((one) => one.at >= at && one.at < at + 60_000);
    expect(inMinute.length).toBeLessThanOrEqual(80);
  }
});

describe("status --all-profiles", () => {
  test("shows each brand under its name, names a stale one, and warns of a key that is about to expire", async () => {
    const brands = await brandsForTest();
    await brands.login("acme", brands.sandbox.keys.expiring.secret);
    await brands.login("basalt", brands.sandbox.keys["other-brand"].secret);
    await brands.run("sync roster --all-profiles");
    const { code, out, err } = await brands.run("status --all-profiles");
    expect(code).toBe(0);
    expect(out).toMatch(/^\[acme\]\nMirror of Fjell & Fern, [\s\S]*\n\[basalt\]\nMirror of Basalt Cycling, /);
    expect(err).toMatch(/^\[acme\]\nwarning: The key expires in 2d .*`brandapi login --profile acme`\.\n$/);
    brands.sandbox.advance(86_400_000);
    await brands.run("sync roster --profile acme");
    brands.sandbox.advance(7_200_000);
    const stale = await brands.run("status --all-profiles --max-age 25h --quiet");
    expect(stale.code).toBe(10);
    expect(stale.err).toMatch(
      /brandapi: basalt: Older than 25h: roster\.\n {2}hint: run `brandapi sync roster --profile basalt`\n$/,
    );
    const json = await brands.run("status --all-profiles --json");
    const lines = json.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { profile: "acme", db: brands.mirrorOf("acme") },
      { profile: "basalt", db: brands.mirrorOf("basalt") },
    ]);
  });

  test("is stopped between two brands as well", async () => {
    const brands = await threeBrands();
    const signal = AbortSignal.abort(new Stopped("SIGTERM"));
    const { code, out } = await brands.run("status --all-profiles", { signal });
    expect({ code, out }).toEqual({ code: 143, out: "" });
  });

  test("needs no network and no key", async () => {
    const brands = await brandsForTest();
    const env = { BRANDAPI_BASE_URL: brands.sandbox.baseUrl, BRANDAPI_KEY: brands.sandbox.key };
    await brands.run("sync roster --profile acme", { env });
    const { code, out } = await brands.run("status --all-profiles", {
      fetch: () => Promise.reject(new Error("asked")),
    });
    expect(code).toBe(0);
    expect(out).toContain("[acme]");
    expect(existsSync(join(brands.home, ".config/brandapi/config.json"))).toBe(false);
  });
});

test("the gravest of several exit codes is the lowest that is not 0", () => {
  expect(graver(0, 0)).toBe(0);
  expect(graver(0, 10)).toBe(10);
  expect(graver(6, 4)).toBe(4);
  expect(graver(4, 6)).toBe(4);
  expect(graver(9, 0)).toBe(9);
});
