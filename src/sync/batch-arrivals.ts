import type { Clock } from "../deps.js";

/** The maximum number of items in a batch. */
const maxBatchSize = 8;
/** The maximum time between the items of a batch, in milliseconds. */
const maxBatchGapMs = 25;

/**
 * Groups items that arrive in quick succession, so that they can be stored in one transaction. The next item is
 * requested before a batch is yielded, so that the API processes the request while the batch is being stored.
 * @param options.endsBatch true for an item that must be processed before the next item is requested
 */
export async function* batchArrivals<T>(
  items: AsyncGenerator<T, void>,
  { clock, endsBatch }: { clock: Clock; endsBatch: (item: T) => boolean },
): AsyncGenerator<T[], void> {
  let batch: T[] = [];
  let next = items.next();
  for (;;) {
    const { done, value } = await next;
    if (done) break;
    batch.push(value);
    if (endsBatch(value)) {
      yield batch;
      batch = [];
      next = items.next();
      continue;
    }
    next = items.next();
    // If the request fails, its error is thrown when `next` is awaited, after the batch has been stored.
    next.catch(() => {});
    if (batch.length < maxBatchSize && (await arrivesSoon(next, clock))) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns true if the item arrives within `maxBatchGapMs`. If it arrives later or its request fails, returns false. */
async function arrivesSoon(item: Promise<unknown>, clock: Clock): Promise<boolean> {
  const arrival = item.then(
    () => true,
    () => false,
  );
  return await Promise.race([arrival, clock.sleep(maxBatchGapMs).then(() => false)]);
}
