import { existsSync, readFileSync } from "node:fs";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";

/** What a run goes on from, and leaves for the next: the file of `--state`. */
export interface StateFile {
  /** What the last run left; undefined where there was none. */
  state: unknown;
  remember(state: unknown): void;
  /** Replaces the file, whole or not at all: call it when everything has been taken. */
  keep(): Promise<void>;
}

/** @throws ConfigurationError where there is a file that is no state */
export function openState(path: string | undefined, deps: Deps): StateFile {
  let next: unknown;
  return {
    state: path === undefined ? undefined : readState(expandPath(path, deps), path),
    remember(state) {
      next = state;
    },
    async keep() {
      if (path === undefined || next === undefined) return;
      const sink = await openFileSink(expandPath(path, deps), deps);
      await sink.write(`${JSON.stringify(next)}\n`);
      await sink.finish();
    },
  };
}

function readState(path: string, asTyped: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    const state: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof state === "object" && state !== null && "bookmarks" in state) return state;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigurationError(`The file is no state that \`brandapi\` wrote: ${asTyped}`, {
    hint: "name another with `--state`; without a state everything is sent",
  });
}
