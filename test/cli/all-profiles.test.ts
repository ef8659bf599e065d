import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runForProfiles } from "../../src/cli/all-profiles.js";
import { scanCommandLine } from "../../src/cli/command-line.js";
import type { GlobalFlags } from "../../src/config/settings.js";
import type { Deps } from "../../src/deps.js";
import {
  BrandapiError,
  ConfigurationError,
  Incomplete,
  MirrorBusy,
  MirrorStale,
  Stopped,
  UsageError,
} from "../../src/errors.js";
import { makeHome } from "../support/home.js";
import { type ProgramOptions, testDeps } from "../support/program.js";

/** Runs `work` with `--all-profiles` on a machine that has the given profiles. */
async function runForAll(
  names: readonly string[],
  work: (profile: string, deps: Deps) => unknown,
  { json = false, ...options }: ProgramOptions & { json?: boolean } = {},
) {
  const home = makeHome();
  const profiles = Object.fromEntries(names.map((name) => [name, { key: `brk_${name}` }]));
  writeFileSync(join(home, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  const deps = testDeps({ home, env: { BRANDAPI_CONFIG_DIR: home }, ...options });
  const commandLine = scanCommandLine(["sync", "--all-profiles", ...(json ? ["--json"] : [])]);
  const runCommand = async () => 0 as const;
  const allFlags: GlobalFlags & { allProfiles: boolean } = { allProfiles: true, json };
  const code = await runForProfiles(allFlags, { deps, commandLine, runCommand }, async (flags, context) => {
    expect([flags.allProfiles, flags.profile]).toEqual([undefined, context.profile]);
    await work(context.profile ?? "", context.deps);
  });
  return { code, out: deps.stdout.text, err: deps.stderr.text };
}

test("without --all-profiles, a command runs once, and its error is thrown", async () => {
  const context = {
    deps: testDeps(),
    commandLine: scanCommandLine(["sync"]),
    runCommand: async () => 0 as const,
  };
  const flags = { profile: "acme" };
  expect(
    await runForProfiles(flags, context, async (...args) => expect(args).toEqual([flags, context])),
  ).toBe(0);
  const fail = async () => {
    throw new Incomplete("x");
  };
  await expect(runForProfiles(flags, context, fail)).rejects.toThrow(Incomplete);
});

test("--all-profiles exits with code 3 if no profile has a key", async () => {
  await expect(runForAll([], () => {})).rejects.toThrow(ConfigurationError);
});

test.each([
  [0, "no run fails", []],
  [
    8,
    "the first run fails with code 10 and the second with the more urgent code 8",
    [new MirrorStale("x"), new Incomplete("x")],
  ],
  [
    8,
    "the first run fails with the more urgent code 8 and the second with code 10",
    [new Incomplete("x"), new MirrorStale("x")],
  ],
  [
    1,
    "the first run fails with code 9 and the second with the more urgent code 1",
    [new MirrorBusy("x"), new BrandapiError("x")],
  ],
])("--all-profiles runs all profiles, and exits with code %i if %s", async (code, _, errors) => {
  const ran: string[] = [];
  const result = await runForAll(["a", "b", "c"], (profile) => {
    const error = errors[ran.push(profile) - 1];
    if (error) throw error;
  });
  expect([result.code, ran]).toEqual([code, ["a", "b", "c"]]);
});

test("--all-profiles prints each profile's name before that profile's first line on stdout and on stderr", async () => {
  const work = (profile: string, { stdout, stderr }: Deps) => {
    if (profile === "silent") return;
    for (const n of [1, 2]) stdout.write(`${profile} ${n}\n`);
    stderr.write(`note of ${profile}\n`);
    if (profile === "b") throw new Incomplete("failed");
  };
  const text = await runForAll(["a", "silent", "b"], work);
  expect(text.out).toBe("[a]\na 1\na 2\n[b]\nb 1\nb 2\n");
  expect(text.err).toBe("[a]\nnote of a\n[b]\nnote of b\nbrandapi: b: failed\n");
  const json = await runForAll(["a"], work, { json: true });
  expect(json).toMatchObject({ out: "a 1\na 2\n", err: "[a]\nnote of a\n" });
});

test("--all-profiles does not run the remaining profiles after a usage error or a signal", async () => {
  const ran: string[] = [];
  const stop = new AbortController();
  const usage = runForAll(["a", "b"], (profile) => {
    ran.push(profile);
    throw new UsageError("x");
  });
  await expect(usage).rejects.toThrow(UsageError);
  const fails = runForAll(
    ["c", "d"],
    (profile) => {
      ran.push(profile);
      stop.abort(new Stopped("SIGINT"));
      throw new Incomplete("x");
    },
    { signal: stop.signal },
  );
  await expect(fails).rejects.toThrow(Incomplete);
  const stopped = runForAll(["e", "f"], (profile) => ran.push(profile), { signal: stop.signal });
  await expect(stopped).rejects.toThrow(Stopped);
  expect(ran).toEqual(["a", "c"]);
});
