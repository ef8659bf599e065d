import { MirrorUnusable } from "../errors.js";

/** How a run can lose the mirror that it holds. */
export type Loss = keyof typeof losses;

const again = "run the same command again";
const left = `what is there now was left as it is: ${again}`;

const losses = {
  removed: ["mirror was moved away or removed", `put it back, or ${again} for a new one`],
  replaced: ["mirror was replaced by another file", left],
  overwritten: ["mirror was overwritten", left],
  log: ["mirror's log was cut, removed or replaced", `${again}: what was kept before is there`],
  torn: [
    "mirror's log was cut while it was brought into the mirror",
    "the mirror may be damaged by it: restore it from a backup, or move it away and run `brandapi sync --full`",
  ],
  lock: ["mirror's lock was removed", `leave that file alone, and ${again}`],
} as const;

/** @param path of the file that it is about */
export function lossError(loss: Loss, path: string, cause?: unknown): MirrorUnusable {
  const [what, hint] = losses[loss];
  return new MirrorUnusable(`The ${what} in the middle of this run: ${path}.`, {
    hint,
    cause,
  });
}
