import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Vitest's global setup: builds `dist` for tests that start processes, unless it is up to date. */
export default function build(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const sources = filesIn(join(root, "src")).concat(join(root, "bin/build.js"), join(root, "package.json"));
  const built = statSync(join(root, "dist/main.js"), { throwIfNoEntry: false });
  if (built && sources.every((path) => statSync(path).mtimeMs < built.mtimeMs)) return;
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
