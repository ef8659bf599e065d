import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { mirrorOf } from "../../src/mirror/mirror.js";
import { openTransaction } from "../../src/mirror/transaction.js";
import { makeHome } from "../support/home.js";

/** A mirror that another program writes to, and a transaction on it that asks again whenever `sleep` resolves. */
function held(sleep: (other: Sqlite.Database) => void) {
  const path = join(makeHome(), "mirror.sqlite");
  const other = new Sqlite(path);
  other.exec("CREATE TABLE t (x); BEGIN IMMEDIATE");
  const db = new Sqlite(path, { timeout: 0 });
  const stop = new AbortController();
  let now = 0;
  const clock = {
    ...systemClock,
    monotonic: () => now,
    async sleep(_ms: number, signal?: AbortSignal) {
      now += 1_000;
      sleep(other);
      signal?.throwIfAborted();
    },
  };
  return {
    db,
    stop,
    transaction: openTransaction(mirrorOf({ db, path, id: null }), { clock, signal: stop.signal }),
  };
}

test("a transaction begins once another program has ended its own", async () => {
  const { db, transaction } = held((other) => other.exec("COMMIT"));
  await transaction.begin();
  expect([transaction.isOpen, db.inTransaction]).toEqual([true, true]);
});

test("a signal ends the wait for another program's transaction", async () => {
  const { stop, transaction } = held(() => stop.abort(new Stopped("SIGINT")));
  await expect(transaction.begin()).rejects.toThrow(Stopped);
  expect(transaction.isOpen).toBe(false);
});

test("another program's transaction is waited for ten seconds, and then told", async () => {
  let waits = 0;
  const { transaction } = held(() => {
    waits += 1;
  });
  await expect(transaction.begin()).rejects.toMatchObject({ code: "SQLITE_BUSY" });
  expect(waits).toBe(10);
});
