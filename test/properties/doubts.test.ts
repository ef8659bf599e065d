import { expect, test } from "vitest";
import fc from "../support/property.js";
import { doubts, type Ending, playDoubt } from "./doubts.js";
import { historiesOf } from "./histories.js";

/** More by hand: PROPERTY_RUNS=500 PROPERTY_SEED=7, one doubt with `-t capped`; each prints its row of the table. */
const runs = Number(process.env.PROPERTY_RUNS ?? 6);

test.each(doubts)(
  "$name ($watched): loud or harmless",
  async (doubt) => {
    const { name, watched, setting, silent } = doubt;
    const endings: Record<Ending, number> = { harmless: 0, loud: 0, silent: 0 };
    const property = fc.asyncProperty(historiesOf(setting), async (history) => {
      const { ending, told } = await playDoubt(doubt, history);
      endings[ending] += 1;
      if (silent === null) expect(told).toEqual([]);
    });
    try {
      await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
    } finally {
      const { harmless, loud, silent: known } = endings;
      if (process.env.PROPERTY_RUNS)
        process.stdout.write(
          `| ${name} (${watched}) | ${harmless} | ${loud} | ${known} | ${silent ?? ""} |\n`,
        );
    }
  },
  3_600_000,
);
