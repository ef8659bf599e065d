import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { rejectOnAbort } from "../../src/util/reject-on-abort.js";

const never = new Promise<never>(() => {});

test("rejectOnAbort returns the promise's result, or rejects with the signal's reason if the signal aborts first", async () => {
  const stop = new AbortController();
  expect(await rejectOnAbort(Promise.resolve(1), stop.signal)).toBe(1);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  const ended = rejectOnAbort(never, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(ended).rejects.toThrow("stopped");
  await expect(rejectOnAbort(never, stop.signal)).rejects.toThrow("stopped");
});
