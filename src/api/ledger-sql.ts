/** Room for the network's jitter: a permit is given back a little late, never early. */
const marginMs = 50;
/** A request without an answer may still reach the server this long after it was sent. */
const unansweredMs = 10_000;
/**
 * A stamp's age. One from the monotonic future is of an earlier boot: then the wall clock counts. A clock that
 * jumps makes everyone slower, never faster.
 */
const age = (name: string) =>
  `CASE WHEN ${name}_mono <= :mono THEN :mono - ${name}_mono ELSE max(0, :wall - ${name}_wall) END`;

export const sendLeft = `CASE WHEN done_mono IS NULL THEN :window + ${unansweredMs} - (${age("sent")})
  ELSE :window + ${marginMs} - (${age("done")}) END`;
export const holdLeft = `ms - (${age("at")})`;

/**
 * A stamp from the future of both clocks tells nothing, and would tell nothing for as long as they need to catch up:
 * it counts as new, once. A second is allowed for: whoever waits for the file asks with a time from before.
 */
export const restamp = (table: string, name: string) =>
  `UPDATE ${table} SET ${name}_mono = :mono, ${name}_wall = :wall
   WHERE ${name}_mono > :mono + 1000 AND ${name}_wall > :wall`;

export const schema = `
  CREATE TABLE IF NOT EXISTS sends (
    id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, key TEXT NOT NULL,
    sent_mono REAL NOT NULL, sent_wall REAL NOT NULL, done_mono REAL, done_wall REAL
  );
  CREATE INDEX IF NOT EXISTS sends_by_account ON sends (origin, key);
  CREATE TABLE IF NOT EXISTS holds (
    origin TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
    at_mono REAL NOT NULL, at_wall REAL NOT NULL, ms REAL NOT NULL, remaining INTEGER NOT NULL,
    after_id INTEGER NOT NULL, PRIMARY KEY (origin, key, kind)
  );`;
