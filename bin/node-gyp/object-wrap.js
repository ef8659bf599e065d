// From 24.19 on, Node's node_object_wrap.h has each wrapped object note a hook that deletes it when Node
// ends. better-sqlite3 12 deletes its statements itself at that moment, so Node aborts at the end of what
// went well. Without the two calls the header is what it was before, and what better-sqlite3 was written for.
const { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const calls = /^ *(?:Add|Remove)CleanupHook\(\);\n/gm;

/**
 * A copy of the header without the hooks, gone when this process ends.
 * @param {string | undefined} nodedir where Node's headers are
 * @returns {string | null} its path; null where there is nothing to mend
 */
function mendedObjectWrap(nodedir) {
  const header = join(nodedir ?? "", "include", "node", "node_object_wrap.h");
  // Windows gets the prebuilt binary; its compiler would not know the flag.
  if (!nodedir || process.platform === "win32" || !existsSync(header)) return null;
  const text = readFileSync(header, "utf8");
  const mended = text.replace(calls, "");
  if (mended === text) return null;
  const folder = mkdtempSync(join(tmpdir(), "node-object-wrap-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, "node_object_wrap.h");
  writeFileSync(copy, mended);
  return copy;
}

module.exports = { mendedObjectWrap };
