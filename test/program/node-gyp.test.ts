import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";

const nodeGyp = fileURLToPath(new URL("../../bin/node-gyp/node-gyp.js", import.meta.url));

/** What npm's node-gyp is given, with Node's headers holding `header`: its CXXFLAGS, and the file that they include. */
function buildAgainst(header: string): { flags: string; included: string; path: string } {
  const folder = makeHome();
  mkdirSync(join(folder, "include", "node"), { recursive: true });
  writeFileSync(join(folder, "include", "node", "node_object_wrap.h"), header);
  const said = join(folder, "node-gyp.cjs");
  writeFileSync(
    said,
    `const flags = process.env.CXXFLAGS ?? "";
     const path = /-include "(.+)"/.exec(flags)?.[1] ?? "";
     const included = path && require("node:fs").readFileSync(path, "utf8");
     console.log(JSON.stringify({ flags, path, included }));`,
  );
  const env = { npm_config_nodedir: folder, npm_config_node_gyp: said, CXXFLAGS: "-O2" };
  return JSON.parse(execFileSync(process.execPath, [nodeGyp], { env, encoding: "utf8" }));
}

test("the native module is built without the hooks that abort Node 24 at its end, and no copy stays behind", () => {
  const hooks =
    "  ObjectWrap() {\n    refs_ = 0;\n    AddCleanupHook();\n  }\n" +
    "  virtual ~ObjectWrap() {\n    RemoveCleanupHook();\n  }\n  void AddCleanupHook() {\n  }\n";
  const { flags, included, path } = buildAgainst(hooks);
  expect(flags).toBe(`-O2 -include "${path}"`);
  expect(included).toBe(
    "  ObjectWrap() {\n    refs_ = 0;\n  }\n  virtual ~ObjectWrap() {\n  }\n  void AddCleanupHook() {\n  }\n",
  );
  expect(existsSync(path)).toBe(false);
});

test("headers without those hooks are left alone", () => {
  expect(buildAgainst("  ObjectWrap() {\n    refs_ = 0;\n  }\n").flags).toBe("-O2");
});
