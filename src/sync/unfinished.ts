import type { Detailed } from "../records/read.js";
import { clearCheckpoint, readCheckpoint, saveCheckpoint } from "../state/checkpoints.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";
import { isFresh } from "./resume.js";

/** What a stopped read of details left behind, and how far this one comes. */
export interface Unfinished {
  /** What to read: first those that the stopped reads did not come to, then those read longest ago. */
  due: Detailed[];
  /** Those that a read which was stopped a short while ago has read, and whose record has not changed since. */
  fresh: Detailed[];
  /** Notes that one was read. */
  note(record: Detailed): void;
  /** Everything was read. */
  end(): void;
}

/**
 * Details take a request each. A run that is stopped before the last is gone on with, and one that is stopped every
 * time comes to all of them in turn.
 */
export function openUnfinished(context: SyncContext, all: readonly Detailed[]): Unfinished {
  const { clock, mirror, resource } = context;
  const name = `details:${resource.name}`;
  const stopped = readCheckpoint<null>(mirror, name);
  const read = new Set(stopped?.seen);
  const place = new Map([...read].map((id, index) => [id, index]));
  const fresh = new Set(
    stopped && isFresh(context, Date.parse(stopped.updatedAt))
      ? all.filter(({ id, changedAt }) => read.has(id) && changedAt <= stopped.updatedAt)
      : [],
  );
  return {
    due: all
      .filter((record) => !fresh.has(record))
      .sort((a, b) => (place.get(a.id) ?? -1) - (place.get(b.id) ?? -1)),
    fresh: [...fresh],
    note({ id }) {
      // Read last, it stands last.
      read.delete(id);
      read.add(id);
      saveCheckpoint(mirror, name, null, read, formatInstant(clock.now()));
    },
    end: () => clearCheckpoint(mirror, name),
  };
}
