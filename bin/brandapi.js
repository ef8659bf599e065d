#!/usr/bin/env node
// This file must run even on Node 14, so that it can report an unsupported Node version before it loads code whose
// syntax that version does not understand.
const [major, minor, patch] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && (minor < 18 || (minor === 18 && patch < 1)))) {
  fail(`Node 20.18.1 or newer is required; this is Node ${process.versions.node}.`, "install a current Node");
} else if (!(await printsVersion())) {
  try {
    const { main } = await import("../dist/main.js");
    await main();
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const missing = /Cannot find package '([^']+)'/.exec(error.message)?.[1];
    if (missing)
      fail(`The installation is incomplete: ${missing} is missing.`, "run `npm ci` in the program's folder");
    else fail("This checkout has not been built yet.", "run `npm ci && npm run build` in the checkout");
  }
}

/**
 * Prints the version without loading the program, because scripts often request it. If writing fails, the program is
 * loaded and reports the reason.
 */
async function printsVersion() {
  if (process.argv.length !== 3 || !["--version", "-V"].includes(process.argv[2])) return false;
  const { readFileSync, writeSync } = await import("node:fs");
  const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  try {
    writeSync(1, `${about.version}\n`);
    return true;
  } catch {
    return false;
  }
}

function fail(message, hint) {
  process.stderr.write(`brandapi: ${message}\n  hint: ${hint}\n`);
  process.exitCode = 3;
}
