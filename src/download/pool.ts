/** Files on their way at once. */
export const atOnce = 4;

/**
 * Runs work for each item, a few at once, in no particular order. The first failure stops the rest: what is under way
 * is told through `stop`, and has ended when this rejects.
 * @param stop called with the first failure
 */
export async function runEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  stop: (error: unknown) => void,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  async function worker(): Promise<void> {
    while (!failure) {
      const next = queue.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
        stop(failure.error);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure) throw failure.error;
}
