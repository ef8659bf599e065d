import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { createEmptyMirror } from "../support/mirror.js";

test.each(["verify", "verify orders", "verify --repair", "verify --json"])(
  "`%s` fails if there is no mirror, and does not create one",
  async (command) => {
    const brand = makeBrand({ history: 50, listLimit: 10 });
    const path = join(brand.home, "none.sqlite");
    const { code, err } = await brand.run([...command.split(" "), "--db", path]);
    const exported = await brand.run(["export", "orders", "--csv", "--db", path]);
    expect(err).toBe(exported.err);
    expect(err).toContain("No mirror yet:");
    expect(err).toContain("check the path, or run `brandapi sync");
    expect(code).toBe(3);
    expect(brand.requests).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(brand.db)).toBe(false);
  },
);

test("verify fails if nothing has been synced yet", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  await createEmptyMirror(brand.db);
  const { code, out, err } = await brand.run("verify");
  expect({ code, out, err }).toEqual({
    code: 8,
    out: "",
    err: expect.stringMatching(/never been synced\.\n.*`brandapi sync`/),
  });
});

test("verify reports a named resource that has never been synced, and --repair reads it", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync roster")).code).toBe(0);
  const { code, out, err } = await brand.run("verify orders roster --json");
  const [orders, roster, last] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(orders).toMatchObject({ resource: "orders", state: "unproven" });
  expect(roster).toMatchObject({ resource: "roster", state: "proven" });
  expect(last).toHaveProperty("error.code", "incomplete");
  expect(err).toMatch(/50 records .*not been read.*\n.*`brandapi verify orders --repair`/);
  expect(code).toBe(8);
  // A resource that has never been synced is verified only if it is named. Verifying it does not count as a sync.
  expect((await brand.run("verify")).code).toBe(0);
  expect((await brand.run("verify orders --repair")).code).toBe(0);
});

test("verify prints one line about the changes that it cannot detect", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync orders roster surveys")).code).toBe(0);
  const { out } = await brand.run("verify");
  const lines = out.split("\n").filter((line) => /^\w|cannot detect/.test(line));
  expect(lines).toEqual([
    expect.stringMatching(/^orders: /),
    expect.stringMatching(/^roster: /),
    expect.stringMatching(/^surveys: /),
    "`verify` cannot detect a change to orders that affects none of these numbers, or a change to the details of surveys: syncs re-read them over time.",
  ]);
});

test("verify reports click totals as unproven with exit code 0, because the API can restate them", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync analytics-hosts")).code).toBe(0);
  for (const command of ["verify", "verify analytics-hosts analytics-clicks"]) {
    const { code, out, err } = await brand.run(command);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("analytics-hosts: unproven");
  }
});

test("verify reports an outage only once, with a hint", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync orders roster")).code).toBe(0);
  brand.before = ({ path }) => (path === "/me" ? undefined : { status: 503 });
  const { code, out, err } = await brand.run("verify");
  expect({ code, out }).toEqual({ code: 6, out: "" });
  expect(err.match(/unavailable/g)).toHaveLength(1);
  expect(err).toContain("\n  hint: check the network");
});
