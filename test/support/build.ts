import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Vitest's global set-up: tests of real processes run what is in `dist`, so it is built from what is in `src`.
 * Types are not its concern: `npm run check` looks at them.
 */
export default function build(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync("npm", ["run", "--silent", "build", "--", "--noCheck"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
}
