import { statSync } from "node:fs";

/** True if there is something at a path, links followed. @throws the system's error if the path may not be read */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
