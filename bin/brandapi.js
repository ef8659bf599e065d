#!/usr/bin/env node
// Plain JavaScript for any Node: it says what is missing before it loads what an older one cannot read.
const [major, minor, patch] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && (minor < 18 || (minor === 18 && patch < 1)))) {
  fail(
    `brandapi needs Node 20.18.1 or newer; this is Node ${process.versions.node}.`,
    "install a current Node",
  );
} else if (!(await tellsVersion())) {
  try {
    const { main } = await import("../dist/main.js");
    await main();
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const missing = /Cannot find package '([^']+)'/.exec(error.message)?.[1];
    if (missing)
      fail(`brandapi is not fully installed: ${missing} is missing.`, "run `npm ci` in its folder");
    else fail("brandapi is not built yet.", "run `npm ci && npm run build` in its folder");
  }
}

/** Scripts ask for the version again and again, so the program is not loaded; it says why if the version cannot be written. */
async function tellsVersion() {
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
