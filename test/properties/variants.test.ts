import { expect, test } from "vitest";
import fc from "../support/property.js";
import { scenariosOf } from "./scenarios.js";
import { type ApiVariant, apiVariants, type Effect, playVariant } from "./variants.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 2);

const titled = apiVariants.map((one) => [one.name, one.listName, one] as const);

test.each(titled.filter(([, , { isReadByPage }]) => isReadByPage))(
  "if the API returns %s, a sync of %s records nothing that contradicts the API's data, and loses no record",
  playScenarios,
  3_600_000,
);

test.each(titled.filter(([, , { isReadByPage }]) => !isReadByPage))(
  "if the API returns %s, a sync of %s leaves a correct mirror or reports a problem",
  playScenarios,
  3_600_000,
);

async function playScenarios(name: string, listName: string, variant: ApiVariant): Promise<void> {
  const { options, knownGap } = variant;
  const effects: Record<Effect, number> = { harmless: 0, loud: 0, silent: 0 };
  const property = fc.asyncProperty(scenariosOf(options), async (scenario) => {
    const { effect, falseClaims } = await playVariant(variant, scenario);
    effects[effect] += 1;
    if (knownGap === null) expect(falseClaims).toEqual([]);
  });
  try {
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
  } finally {
    const { harmless, loud, silent } = effects;
    if (process.env.PROPERTY_RUNS)
      process.stdout.write(
        `| ${name} (${listName}) | ${harmless} | ${loud} | ${silent} | ${knownGap ?? ""} |\n`,
      );
  }
}
