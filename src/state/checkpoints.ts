import type { Mirror } from "../mirror/mirror.js";

/** Where an unfinished read stopped: `State` is the strategy's own, `seen` the records found so far. */
export interface Checkpoint<State> {
  state: State;
  seen: number[];
  /** When it was left, ISO 8601. */
  updatedAt: string;
}

export function readCheckpoint<State>(mirror: Mirror, resource: string): Checkpoint<State> | null {
  const row = mirror.db
    .prepare("SELECT state, seen, updated_at FROM checkpoints WHERE resource = ?")
    .get(resource) as { state: string; seen: Buffer; updated_at: string } | undefined;
  if (!row) return null;
  const bytes = new Uint8Array(row.seen);
  const seen = [...new Float64Array(bytes.buffer)];
  return { state: JSON.parse(row.state) as State, seen, updatedAt: row.updated_at };
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
