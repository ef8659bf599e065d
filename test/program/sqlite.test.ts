import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { packageFile } from "../../src/deps.js";
import { holdsHook, loadSqlite } from "../../src/lib/sqlite.js";
import { makeHome } from "../support/home.js";

const rebuild = fileURLToPath(new URL("../../bin/rebuild.js", import.meta.url));

test("a build that would abort Node is known by the function that it names; this one does not", async () => {
  const binary = createRequire(import.meta.url).resolve("better-sqlite3/build/Release/better_sqlite3.node");
  expect(holdsHook(readFileSync(binary))).toBe(false);
  expect(holdsHook(Buffer.from("..\0_ZN4node10ObjectWrap11CleanupHookEPv\0.."))).toBe(true);
  const Sqlite = await loadSqlite();
  new Sqlite(":memory:").close();
});

/** What npm is asked for, by a program that stands in its place. */
function runRebuild(header: string) {
  const home = makeHome();
  mkdirSync(join(home, "include", "node"), { recursive: true });
  writeFileSync(join(home, "include", "node", "node_object_wrap.h"), header);
  const said = join(home, "said");
  writeFileSync(join(home, "npm"), `#!/bin/sh\necho "$@" > ${said}\necho "$CXXFLAGS" >> ${said}\nexit 7\n`);
  chmodSync(join(home, "npm"), 0o755);
  const env = { PATH: `${home}${delimiter}${process.env.PATH}`, HOME: home, npm_config_nodedir: home };
  const { status, stderr } = spawnSync(process.execPath, [rebuild], { env, encoding: "utf8" });
  const asked = status === 7 ? readFileSync(said, "utf8").trim().split("\n") : [];
  return { status, stderr, asked };
}

test("the hint names bin/rebuild.js of this package in the built program, too, whose modules are all in one folder", async () => {
  const built = await import(new URL("../../dist/start.js", import.meta.url).href);
  expect([packageFile, built.packageFile].map((find) => find("bin/rebuild.js"))).toEqual([rebuild, rebuild]);
});

test("`node bin/rebuild.js` has npm compile it with the mended header, and ends as npm does", () => {
  const { status, asked } = runRebuild("  void AddCleanupHook() {\n  }\n    AddCleanupHook();\n");
  expect(status).toBe(7);
  expect(asked).toEqual([
    "rebuild --allow-scripts=better-sqlite3 better-sqlite3",
    expect.stringMatching(/^-include ".*node_object_wrap\.h"$/),
  ]);
});

test("`node bin/rebuild.js` does nothing where there is nothing to mend", () => {
  expect(runRebuild("nothing")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("nothing was done"),
  });
});
