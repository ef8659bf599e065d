import { expect, test } from "vitest";
import fc from "../support/property.js";
import { watchedLists } from "./brand.js";
import { historiesOf } from "./histories.js";
import { play } from "./play.js";

/**
 * More by hand: PROPERTY_RUNS=1000 PROPERTY_SEED=7, one resource with `-t orders`, without looking for the shortest
 * history with PROPERTY_SHRINK=no.
 */
const runs = Number(process.env.PROPERTY_RUNS ?? 24);

test.each(watchedLists)(
  "%s: whatever happens, while reading or between, no run makes a false claim",
  async (watched) => {
    const property = fc.asyncProperty(historiesOf(), async (history) => {
      expect(await play(watched, history)).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
  },
  3_600_000,
);
