import { expect, test } from "vitest";
import fc from "../support/property.js";
import { historiesOf } from "./histories.js";
import { partedResources, playParts } from "./parts.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 10);

test.each(partedResources)(
  "$name: whatever happens, a verified run has each part as it was at some instant of the run",
  async (resource) => {
    const property = fc.asyncProperty(historiesOf(), async (history) => {
      expect(await playParts(resource, history)).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
  },
  3_600_000,
);
