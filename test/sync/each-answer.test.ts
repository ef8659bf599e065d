import { expect, test } from "vitest";
import { silentReporter } from "../../src/reporter.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { eachAnswer } from "../../src/sync/each-answer.js";

test("a task knows how many details are to come before the first of them is there", async () => {
  const seen: string[] = [];
  const context = {
    progress: { pages: 1, rows: 2 },
    reporter: silentReporter,
    resource: opportunities,
    task: {
      update: ({ done, total }: { done?: number; total?: number }) => void seen.push(`${done}/${total}`),
      waiting: () => {},
      end: () => {},
    },
  };
  const due = ["a", "b"].map((key, id) => ({ id, key, changedAt: "", pending: true, json: "{}", value: {} }));
  const ask = async ({ key }: { key: string }) => {
    seen.push(`asked for ${key}`);
    return key;
  };
  await eachAnswer(context, due, ask, () => {});
  expect(seen.slice(0, 2)).toEqual(["1/3", "asked for a"]);
  expect(seen.at(-1)).toBe("3/3");
});
