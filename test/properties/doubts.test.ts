import { expect, test } from "vitest";
import fc from "../support/property.js";
import { type Doubt, doubts, type Ending, playDoubt } from "./doubts.js";
import { historiesOf } from "./histories.js";

/**
 * More by hand: PROPERTY_RUNS=1000 PROPERTY_SEED=7 PROPERTY_SHRINK=no, one variant with `-t capped`, all that are read by page
 * number with `-t "no record is lost"`. Each prints its row of the table.
 */
const runs = Number(process.env.PROPERTY_RUNS ?? 6);

test.each(doubts.filter(({ isReadByPage }) => isReadByPage))(
  "$name ($watched): no false claim, and no record is lost",
  playMany,
  3_600_000,
);

test.each(doubts.filter(({ isReadByPage }) => !isReadByPage))(
  "$name ($watched): loud or harmless",
  playMany,
  3_600_000,
);

async function playMany(doubt: Doubt): Promise<void> {
  const { name, setting, silent, watched } = doubt;
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
      process.stdout.write(`| ${name} (${watched}) | ${harmless} | ${loud} | ${known} | ${silent ?? ""} |\n`);
  }
}
