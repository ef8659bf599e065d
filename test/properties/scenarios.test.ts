import { expect, test } from "vitest";
import fc from "../support/property.js";
import { testedLists } from "./model.js";
import { play } from "./play.js";
import { scenariosOf } from "./scenarios.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 8);

test.each(testedLists)(
  "after random changes and failures, sync and verify record nothing about %s that contradicts the API's data",
  async (listName) => {
    const property = fc.asyncProperty(scenariosOf(), async (scenario) => {
      expect(await play(listName, scenario)).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
  },
  3_600_000,
);
