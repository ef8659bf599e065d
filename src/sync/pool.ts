/** Most requests at once: the API's budget is counted in requests, not in connections. */
export const inFlight = 4;

/**
 * Runs work for each item, a few at once, and hands the results over in order.
 * @throws the first failure, after the work under way has ended
 */
export async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  take: (result: Result, item: Item) => void,
): Promise<void> {
  const started: Promise<Result>[] = [];
  const start = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    const result = work(item);
    // A failure is thrown where its turn comes.
    result.catch(() => {});
    started[index] = result;
  };
  try {
    for (let index = 0; index < inFlight; index += 1) start(index);
    for (const [index, item] of items.entries()) {
      const result = await (started[index] as Promise<Result>);
      start(index + inFlight);
      take(result, item);
    }
  } finally {
    await Promise.allSettled(started);
  }
}
