import { clearCheckpoint, readCheckpoint, saveCheckpoint } from "../mirror/checkpoints.js";
import type { Detailed } from "../mirror/details.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";

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

interface DetailsState {
  stoppedAt: number;
}

/** So long after a stop its answers are taken as this run's own: as for lists. */
const freshMs = 3_600_000;

/**
 * Details take a request each. A run that is stopped before the last is gone on with, and one that is stopped every
 * time comes to all of them in turn.
 */
export function openUnfinished(context: SyncContext, all: readonly Detailed[]): Unfinished {
  const { clock, mirror, now, resource } = context;
  const name = `details:${resource.name}`;
  const stopped = readCheckpoint<DetailsState>(mirror, name);
  const stoppedAt = stopped?.state.stoppedAt ?? Number.NEGATIVE_INFINITY;
  const read = new Set(stopped?.seen);
  const place = new Map([...read].map((id, index) => [id, index]));
  const isFresh = ({ id, changedAt }: Detailed) =>
    read.has(id) && Math.abs(now - stoppedAt) <= freshMs && Date.parse(changedAt) <= stoppedAt;
  return {
    due: all
      .filter((record) => !isFresh(record))
      .sort((a, b) => (place.get(a.id) ?? -1) - (place.get(b.id) ?? -1)),
    fresh: all.filter(isFresh),
    note({ id }) {
      // Read last, it stands last.
      read.delete(id);
      read.add(id);
      const at = clock.now();
      saveCheckpoint<DetailsState>(mirror, name, { stoppedAt: at }, read, formatInstant(at));
    },
    end: () => clearCheckpoint(mirror, name),
  };
}
