import { expect, test } from "vitest";
import fc from "../support/property.js";
import { playClicks } from "./clicks.js";
import { histories } from "./histories.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 25);

test("clicks: whatever happens, a verified run leaves no day of what it claims as it no longer is", async () => {
  const property = fc.asyncProperty(histories, async (history) => {
    expect(await playClicks(history)).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
}, 3_600_000);
