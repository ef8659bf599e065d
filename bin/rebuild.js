#!/usr/bin/env node
// Compiles better-sqlite3 again, for an installation whose first build aborts Node 24: see node-gyp/object-wrap.js.
// npm's own `rebuild` does the work; it is only shown the header without the hooks. A checkout's `npm ci` needs none of
// this. Where the headers are: with Node itself, or where node-gyp put them the first time.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mendedObjectWrap } from "./node-gyp/object-wrap.js";

const { env, execPath, versions } = process;
const home = dirname(dirname(fileURLToPath(import.meta.url)));
const caches = env.XDG_CACHE_HOME ? [env.XDG_CACHE_HOME] : [];
const folders = [
  env.npm_config_nodedir ?? "",
  dirname(dirname(execPath)),
  ...[...caches, join(homedir(), ".cache"), join(homedir(), "Library", "Caches")].map((cache) =>
    join(cache, "node-gyp", versions.node),
  ),
];
const nodedir = folders.find((folder) => existsSync(join(folder, "include", "node", "node_object_wrap.h")));
const mended = mendedObjectWrap(nodedir);
const prefix = /^(.*)[\\/]lib[\\/]node_modules[\\/]brandapi$/.exec(home)?.[1];
const place = prefix === undefined ? [] : ["-g", "--prefix", prefix];

if (nodedir === undefined || mended === null) {
  process.stderr.write(`Node ${versions.node} has no header to mend: nothing was done.\n`);
  process.exitCode = 1;
} else {
  const words = ["rebuild", ...place, "--allow-scripts=better-sqlite3", "better-sqlite3"];
  const flags = `${env.CXXFLAGS ?? ""} -include "${mended}"`.trim();
  const built = {
    ...env,
    npm_config_nodedir: nodedir,
    npm_config_build_from_source: "true",
    CXXFLAGS: flags,
  };
  const { status } = spawnSync("npm", words, { cwd: home, env: built, stdio: "inherit" });
  process.exitCode = status ?? 1;
}
