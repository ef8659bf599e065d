import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apartIfLarge } from "../../src/commands/large.js";
import { testDeps } from "../support/program.js";

/** A machine with two brands; nothing but the size of their mirrors matters here. */
function machine(sizes: Record<string, number>) {
  const deps = testDeps();
  const data = join(deps.home, ".local/share/brandapi");
  mkdirSync(data, { recursive: true });
  for (const [profile, megabytes] of Object.entries(sizes)) {
    const path = join(data, `${profile}.sqlite`);
    writeFileSync(path, "");
    truncateSync(path, megabytes * 1e6);
  }
  return deps;
}

test("a large mirror is read in a process of its own, a small one is not", async () => {
  const deps = machine({ default: 60, acme: 70 });
  expect(await apartIfLarge({ deps, options: {} })).toBeUndefined();
  expect(await apartIfLarge({ deps, options: { profile: "acme" } })).toEqual({});
  expect(await apartIfLarge({ deps, options: { db: "none.sqlite" } })).toBeUndefined();
});

test("with --all-profiles one large mirror is enough", async () => {
  const options = { allProfiles: true };
  expect(await apartIfLarge({ deps: machine({ default: 1, acme: 70 }), options })).toEqual({});
  expect(await apartIfLarge({ deps: machine({ default: 1, acme: 1 }), options })).toBeUndefined();
});

test("what is wrong with the settings is left for the command to say", async () => {
  const deps = machine({ default: 70 });
  expect(await apartIfLarge({ deps, options: { profile: "../x" } })).toBeUndefined();
});
