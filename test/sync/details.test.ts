import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { inOrder } from "../../src/sync/ask.js";
import { syncResource } from "../../src/sync/engine.js";
import { resourceOf } from "../support/mirror.js";
import { nights } from "../support/nights.js";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test("work is done four at a time, and handed over in order", async () => {
  const taken: number[] = [];
  let open = 0;
  let most = 0;
  await inOrder(
    numbers(11),
    async (item) => {
      open += 1;
      most = Math.max(most, open);
      await turns(item % 3);
      open -= 1;
      return item;
    },
    (result) => void taken.push(result),
  );
  expect(taken).toEqual(numbers(11));
  expect(most).toBe(4);
});

test("a failure is thrown when nothing is under way any more, and nothing more is begun", async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const all = inOrder(
    numbers(20),
    async (item) => {
      begun.push(item);
      if (item === 1) throw new Error("refused");
      await turns(5);
      ended.push(item);
    },
    () => {},
  );
  await expect(all).rejects.toThrow("refused");
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(ended).toEqual([0, 2, 3, 4]);
});

test("a task knows how many details are to come before the first of them is there", async () => {
  const opportunities = numbers(3).map(
    (n): JsonObject => ({
      id: `c${n}`,
      title: "T",
      status: "ACTIVE",
      created_at: "2026-01-01T00:00:00Z",
      updated_at: "2026-01-01T00:00:00Z",
    }),
  );
  const brand = await nights({ opportunities });
  const seen: string[] = [];
  brand.api.before = ({ path }) => void seen.push(path);
  const access = brand.access();
  const { begin } = access.reporter;
  access.reporter.begin = (task) => ({
    ...begin(task),
    update: ({ done, total }) => void seen.push(`${done}/${total}`),
  });
  expect((await syncResource(access, resourceOf("opportunities"))).error).toBeNull();
  const first = seen.indexOf("/opportunities/c0");
  expect(seen.slice(0, first)).toContain("1/4");
  expect(seen.at(-1)).toBe("4/4");
});
