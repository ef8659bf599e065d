import type { Mirror } from "./mirror.js";

/** Where an unfinished read stopped: `State` is the strategy's own, `seen` the records found so far. */
export interface Checkpoint<State> {
  state: State;
  seen: number[];
}

export function readCheckpoint<State>(mirror: Mirror, resource: string): Checkpoint<State> | null {
  const row = mirror.db.prepare("SELECT state, seen FROM checkpoints WHERE resource = ?").get(resource) as
    | { state: string; seen: Buffer }
    | undefined;
  if (!row) return null;
  const bytes = new Uint8Array(row.seen);
  return { state: JSON.parse(row.state) as State, seen: [...new Float64Array(bytes.buffer)] };
}

/** Call it in the transaction that writes the pages it speaks of. */
export function saveCheckpoint<State>(
  mirror: Mirror,
  resource: string,
  state: State,
  seen: Iterable<number>,
  at: string,
): void {
  const ids = Float64Array.from(seen);
  mirror.db
    .prepare("INSERT OR REPLACE INTO checkpoints (resource, state, seen, updated_at) VALUES (?, ?, ?, ?)")
    .run(resource, JSON.stringify(state), Buffer.from(ids.buffer), at);
}

export function clearCheckpoint(mirror: Mirror, resource: string): void {
  mirror.db.prepare("DELETE FROM checkpoints WHERE resource = ?").run(resource);
}
