import { expect, test } from "vitest";
import { Forbidden, Incomplete, UnexpectedResponse } from "../../src/errors.js";
import { content } from "../../src/resources/content.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import { createAccessDeniedError, createFailuresError, retryHint } from "../../src/sync/each-resource.js";

test("a command's error contains each access problem and each hint only once, even if several resources share them", () => {
  const denial = new Forbidden("The plan has ended.", { hint: "check the plan" });
  const failures = [
    { resource: roster, error: createAccessDeniedError(roster, denial) },
    { resource: orders, error: new Incomplete("orders is incomplete.", { hint: "accept the removals" }) },
    { resource: content, error: createAccessDeniedError(content, denial) },
    { resource: opportunities, error: new UnexpectedResponse("Not JSON.", { hint: "report this" }) },
  ];
  expect(createFailuresError({ failures, succeeded: 1, notTried: [] }, 5)).toMatchObject({
    message:
      "4 of 5 resources failed: roster, content were read before, but access to them is now denied: The plan has ended. orders is incomplete. opportunities: Not JSON.",
    hint: `check the plan; accept the removals; ${retryHint}`,
  });
});
