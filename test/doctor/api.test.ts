import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { patient } from "./support.js";

const dayMs = 86_400_000;

/** A port on which nobody ever answers, whatever is sent there. */
async function silence(): Promise<string> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}/api/brand/v1`;
}

test("nobody answers: exit 6 after a few seconds, what needs the API is not checked, and all else is", async () => {
  const one = await patient();
  const env = { BRANDAPI_BASE_URL: await silence(), BRANDAPI_KEY: one.sandbox.key };
  const started = performance.now();
  const { code, out } = await spawnBrandapi(["doctor"], { home: one.home, env }).ended;
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(code).toBe(6);
  expect(out).toMatch(/^! {2}api +The API is unavailable: .*`--max-wait 30m`/m);
  for (const name of ["key", "brand", "scopes", "clock"])
    expect(out).toMatch(new RegExp(`^\\? {2}${name} +not checked: see \`api\`$`, "m"));
  for (const name of ["node", "settings", "disk", "mirror", "tables", "runs", "budget"])
    expect(out).toMatch(new RegExp(`^ok ${name} `, "m"));
});

test("there is no network, and a table differs: both are told, and what is in the mirror decides", async () => {
  const one = await patient();
  one.edit("DELETE FROM roster");
  const fetch = async () => {
    throw new TypeError("fetch failed");
  };
  const { code, named } = await one.visit({ fetch, flags: "--max-wait 0s" });
  expect(code).toBe(8);
  expect(named("failed")).toEqual(["tables", "api"]);
});

test("a login page answers in the API's place: exit 7", async () => {
  const one = await patient();
  const fetch = async () => new Response("<html>Welcome to the hotel</html>", { status: 200 });
  const { code, named } = await one.visit({ fetch, flags: "--max-wait 0s" });
  expect(code).toBe(7);
  expect(named("failed")).toEqual(["api"]);
});

test("the key has expired: exit 4 with what to do; the API has answered, and its clock is compared all the same", async () => {
  const one = await patient();
  one.sandbox.intercept = ({ path }) => (path === "/me" ? { kind: "status", status: 401 } : undefined);
  const { code, named, of } = await one.visit();
  expect(code).toBe(4);
  expect(of("key")).toMatchObject([{ state: "failed", hint: expect.stringContaining("`brandapi login`") }]);
  expect(named("unchecked")).toEqual(["brand", "scopes"]);
  expect(of("api")).toMatchObject([{ state: "ok" }]);
  expect(of("clock")).toMatchObject([{ state: "ok" }]);
});

test("the key expires in ten days, by the API's clock: a warning, which fails nothing", async () => {
  const one = await patient();
  const expires = new Date(Date.now() + 10.5 * dayMs).toISOString();
  one.sandbox.intercept = ({ path }) =>
    path === "/me"
      ? {
          kind: "envelope",
          change: (envelope) => ({ ...envelope, data: withKey(envelope.data, { expires_at: expires }) }),
        }
      : undefined;
  const { code, of } = await one.visit();
  expect(code).toBe(0);
  expect(of("key")).toMatchObject([
    { state: "warning", text: `The key expires soon: 10 days left, until ${expires}.` },
  ]);
  // This machine believes that a year has passed.
  const wrong = await one.visit({ clock: { now: () => Date.now() + 365 * dayMs } });
  expect(wrong.of("key")).toMatchObject([{ text: expect.stringContaining("10 days left") }]);
});

test("the key is another brand's than the mirror: exit 3", async () => {
  const one = await patient();
  one.edit("UPDATE mirror_info SET value = 'somebody else' WHERE name IN ('brand_id', 'brand_name')");
  const { code, of } = await one.visit();
  expect(code).toBe(3);
  expect(of("brand")).toMatchObject([
    { state: "failed", text: expect.stringContaining("belongs to another brand, somebody else") },
  ]);
});

test("a scope is lacking: of what was read before exit 5, of what never was it is only told", async () => {
  const one = await patient();
  const scopes = (names: string[]) => {
    one.sandbox.intercept = ({ path }) =>
      path === "/me"
        ? {
            kind: "envelope",
            change: (envelope) => ({ ...envelope, data: withKey(envelope.data, { scopes: names }) }),
          }
        : undefined;
  };
  const read = ["analytics:read", "roster:read", "gifts:read"];
  scopes(read);
  const narrow = await one.visit();
  expect(narrow.code).toBe(0);
  expect(narrow.of("scopes")).toMatchObject([
    {
      state: "ok",
      text: expect.stringMatching(/^the key may read 5 of 10 resources; not recommendations, /),
    },
  ]);
  scopes(["analytics:read", "gifts:read"]);
  const lost = await one.visit();
  expect(lost.code).toBe(5);
  expect(lost.of("scopes")).toMatchObject([
    {
      state: "failed",
      text: "The key lacks the scope of what was read before: roster (roster:read).",
      hint: expect.stringContaining("`brandapi login`"),
    },
  ]);
});

test.each([
  ["behind", -dayMs, "This machine's clock is 24h behind the API's."],
  ["ahead", dayMs, "This machine's clock is 24h ahead of the API's."],
])("this machine's clock is a day %s: exit 3, with the command that sets it", async (_, off, text) => {
  const one = await patient();
  const { code, of } = await one.visit({ clock: { now: () => Date.now() + off } });
  expect(code).toBe(3);
  expect(of("clock")).toMatchObject([{ state: "failed", text, hint: "run `sudo timedatectl set-ntp true`" }]);
});

test("the answers have no date: the clock is not called right", async () => {
  const one = await patient();
  const undated = async (url: string | URL, init?: RequestInit) => {
    const answer = await fetch(url, init);
    return new Response(await answer.text(), { status: answer.status });
  };
  expect((await one.visit({ fetch: undated })).of("clock")).toMatchObject([{ state: "warning" }]);
});

test("the first hour: no mirror and no settings are told as what to run next, not as defects", async () => {
  const { code, out } = await spawnBrandapi(["doctor"], { home: makeHome() }).ended;
  expect(code).toBe(3);
  expect(out).toMatch(/^! {2}settings .*`brandapi login`.*`brandapi demo`/m);
  expect(out).toMatch(/^! {2}mirror +There is no mirror yet: /m);
  expect(out).not.toContain("defect");
});

function withKey(data: unknown, fields: object): object {
  const { key, ...rest } = data as { key: object };
  return { ...rest, key: { ...key, ...fields } };
}
