import type { Clock } from "../deps.js";
import { inParts } from "../lib/in-parts.js";
import { type Mirror, openTransaction } from "../mirror/index.js";
import * as records from "../records/index.js";
import type { ApiRecord, Json, Recognise, Resource } from "../resources/types.js";

/** The doors of records and mirror in the shape that the present core takes them: this file goes with it. */

export function keyOf(resource: Resource, record: ApiRecord, position: number): string {
  return records.keyOf(resource, record.value, position);
}

export function keysOf(resource: Resource, all: readonly ApiRecord[]): string[] {
  return records.keysOf(
    resource,
    all.map(({ value }) => value),
  );
}

export function datedOf(resource: Resource, record: ApiRecord): number | null {
  return records.datedOf(resource, record.value);
}

export function hostIdOf(record: ApiRecord): string | null {
  return records.hostIdOf(record.value);
}

export function openComparison(mirror: Mirror, resource: Resource) {
  const compare = records.openComparison(mirror, resource);
  return (record: { value: Json }, key: string) => compare(record.value, key);
}

export interface RecordStore {
  recognise: Recognise | undefined;
  checkKeys(all: readonly ApiRecord[]): void;
  keyOf(record: ApiRecord, position: number): string;
  write(
    all: readonly ApiRecord[],
    options: records.WriteOptions & { isAnswer?: boolean },
  ): Generator<void, records.Written>;
  remove(recordIds: Iterable<number>, at: string): Generator<void, number>;
}

/* biome-ignore-start lint/correctness/useYield: the present core takes generators. */
export function storeOf(resource: Resource, store: records.RecordStore): RecordStore {
  return {
    recognise: undefined,
    checkKeys: (all) => void all.map((record) => keyOf(resource, record, 0)),
    keyOf: (record, position) => keyOf(resource, record, position),
    *write(all, { isAnswer: _, ...options }) {
      return store.write(
        all.map(({ value }) => value),
        options,
      );
    },
    *remove(recordIds, at) {
      return store.remove(recordIds, at);
    },
  };
}
/* biome-ignore-end lint/correctness/useYield: the present core takes generators. */

export async function transactInParts<Result>(
  mirror: Mirror,
  parts: Generator<void, Result>,
  waiting: { clock: Clock; signal: AbortSignal },
): Promise<Result> {
  const transaction = openTransaction(mirror);
  try {
    const result = await inParts(parts, waiting);
    transaction.commit();
    return result;
  } finally {
    if (transaction.isOpen) transaction.rollback();
  }
}
