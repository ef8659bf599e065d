import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { inFlight, inOrder } from "../../src/sync/pool.js";

test("work is done a few at once, and handed over in order", async () => {
  const items = Array.from({ length: 11 }, (_, index) => index);
  const taken: number[] = [];
  let open = 0;
  let most = 0;

  await inOrder(
    items,
    async (item) => {
      open += 1;
      most = Math.max(most, open);
      await sleep(item % 3);
      open -= 1;
      return item;
    },
    (result) => taken.push(result),
  );

  expect(taken).toEqual(items);
  expect(most).toBe(inFlight);
});

test("a failure is thrown when nothing is under way any more, and nothing more is begun", async () => {
  const begun: number[] = [];
  const ended: number[] = [];

  await expect(
    inOrder(
      Array.from({ length: 20 }, (_, index) => index),
      async (item) => {
        begun.push(item);
        if (item === 1) throw new Error("refused");
        await sleep(20);
        ended.push(item);
      },
      () => {},
    ),
  ).rejects.toThrow("refused");

  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(ended).toEqual([0, 2, 3, 4]);
});
