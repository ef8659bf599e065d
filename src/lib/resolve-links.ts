import { realpath } from "node:fs/promises";

/** Returns the path with its links resolved; as it is, if there is no such file. */
export async function resolveLinks(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}
