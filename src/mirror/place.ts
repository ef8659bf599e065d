import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MirrorUnusable } from "../errors.js";

/**
 * Looks at what stands where a mirror is or will be: nothing, or a plain file.
 * @throws MirrorUnusable for a folder, a device or a pipe, before anything is made or opened
 */
export function checkPlace(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isFile()) return;
  const what = found.isDirectory() ? "a folder" : "a device or pipe";
  throw new MirrorUnusable(`The mirror has to be a file, and this is ${what}: ${path}.`, {
    hint: found.isDirectory()
      ? `name a file in it: \`--db ${join(path, "mirror.sqlite")}\``
      : "name another file with `--db`",
  });
}

/** Where a mirror really is, whatever links lead to it; its folder is made, the mirror itself need not be there yet. */
export function realPlace(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(realpathSync(folder), basename(path));
}
