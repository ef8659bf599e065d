import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("nodes.js", import.meta.url));

test.runIf(process.platform === "linux" && process.arch === "x64").each(["20", "22", "24", "26"])(
  "the package is installed globally with Node %s, and its demo runs",
  (version) => {
    const { stdout, stderr } = spawnSync(process.execPath, [script, version], { encoding: "utf8" });
    expect(stdout, stderr).toMatch(
      new RegExp(`^\\| v${version}\\S* \\| exit 0, \\d+ s \\| Done in \\S+ s \\|$`, "m"),
    );
  },
  300_000,
);
