import { expect, test } from "vitest";
import fc from "../support/property.js";
import { piecewiseResources, playPiecewise } from "./piecewise.js";
import { scenariosOf } from "./scenarios.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 6);

test.each(piecewiseResources.map((one) => [one.name, one] as const))(
  "if sync reports %s as verified, each mirrored row equals the API's data at some time during the run",
  async (_name, resource) => {
    const property = fc.asyncProperty(scenariosOf(), async (scenario) => {
      expect(await playPiecewise(resource, scenario)).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
  },
  3_600_000,
);
