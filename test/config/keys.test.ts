import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createReporter } from "../../src/ui/reporter.js";
import { makeHome } from "../support/home.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";

/** No pattern knows this shape. */
const key = "Open+sesame!";
const baseUrl = "http://127.0.0.1:1/api/brand/v1";

/** Where the key may come from: the environment, and flags that are needed for it. */
const sources = {
  "the environment": () => ({ env: { BRANDAPI_KEY: key }, flags: [] as string[] }),
  "--key-file": (home: string) => {
    writeFileSync(join(home, "key"), `${key}\n`, { mode: 0o600 });
    return { env: {}, flags: ["--key-file", "~/key"] };
  },
  "the profile": (home: string) => {
    const folder = join(home, ".config", "brandapi");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const config = JSON.stringify({ profiles: { default: { baseUrl, key } } });
    writeFileSync(join(folder, "config.json"), config, { mode: 0o600 });
    return { env: {}, flags: [] };
  },
};

/** An API that answers `/me` if it is told to, and else fails with the key in the error's words. */
function failing({ answersMe }: { answersMe: boolean }): NonNullable<ProgramOptions["fetch"]> {
  const me = {
    brand: { id: "b1", name: "Acme" },
    key: { id: "k1", scopes: ["roster:read"], expires_at: null },
  };
  return async (url) => {
    if (answersMe && String(url).endsWith("/me")) return Response.json({ success: true, data: me });
    throw new Error(`invalid header: Bearer ${key}`);
  };
}

test.each(Object.entries(sources))("a key of any shape from %s is in no text", async (_, given) => {
  const home = makeHome();
  const { env, flags } = given(home);
  const run = async (answersMe: boolean, ...words: string[]) => {
    const options = {
      home,
      fetch: failing({ answersMe }),
      env: { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_RATE_LIMIT: "none", ...env },
    };
    const { out, err } = await brandapi([...words, ...flags], options);
    expect(out + err).not.toContain(key);
    return out + err;
  };
  const hidden = expect.stringContaining("Bearer [key hidden]");
  expect(await run(true, "sync", "roster", "--verbose", "--json")).toEqual(hidden);
  expect(await run(true, "query", "SELECT error FROM sync_runs")).toEqual(hidden);
  expect(await run(true, "status")).toEqual(hidden);
  expect(await run(false, "sync", "--verbose")).toEqual(hidden);
  expect(await run(true, "status", "--json")).toEqual(hidden);
  expect(await run(false, "doctor")).toEqual(hidden);
  expect(await run(true, "sync", key)).toContain("What looks like a key stands on the command line");
});

test("progress, notes, warnings and details hide a key of any shape", () => {
  const deps = testDeps();
  deps.keys.add(key);
  const { begin, detail, note, warn } = createReporter(deps, { verbose: true });
  for (const print of [detail, note, warn]) print(`Bearer ${key}`);
  begin({ name: key }).end(`read with ${key}`);
  expect(deps.stderr.text).not.toContain(key);
  expect(deps.stderr.text.match(/\[key hidden\]/g)).toHaveLength(5);
});

test("`--key-file ~/key` without a home folder is an error as any other", async () => {
  const { code, err } = await brandapi("whoami --key-file ~/key", { home: "", cwd: makeHome() });
  expect(code).toBe(3);
  expect(err).toContain("No home folder is known");
});
