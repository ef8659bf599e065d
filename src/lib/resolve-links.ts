import { readlink, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf } from "./failures.js";

/** Returns the path with its links resolved, also those that lead to a file that does not exist yet. */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // A circle of links.
    if (codeOf(error) === "ELOOP") return path;
  }
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return path;
  return await resolveLinks(resolve(await realpath(dirname(path)), target));
}
