import { type Brand, defaultRate, type ListName, type Lists, type Order } from "./brand.js";
import { createContent } from "./data/library-data.js";
import { cancelOrder, createOrderFactory, refundOrder, withCommission } from "./data/order-data.js";
import { createPerson, createRosterEntry } from "./data/people-data.js";
import { createCode, createGift } from "./data/undocumented-data.js";

export type BrandEvents = ReturnType<typeof createBrandEvents>;

/**
 * Returns functions that change a brand as real events would. These functions throw a `RangeError` for an unknown ID.
 * Arrays and records are replaced rather than changed, so a shallow copy of a brand is a snapshot.
 * @param now returns milliseconds since 1970
 */
export function createBrandEvents(brand: Brand, now: () => number) {
  const { add, change, remove } = createListEdits(brand);

  function addOrder(date: number, isManual: boolean, fields: Partial<Order> = {}): string {
    const order = { ...createOrderFactory(brand)(brand.nextNumber++, date, isManual), ...fields };
    add("orders", order);
    return order.id;
  }

  return {
    add,
    change,
    remove,
    /** Adds an order that is attributed immediately, through a link or code. Returns the order's ID. */
    order: (fields?: Partial<Order>, at = now()) => addOrder(at, false, fields),
    /** Adds a manually attributed order that was placed at `date`. Returns the order's ID. */
    attributeLate: (date: number, fields?: Partial<Order>) => addOrder(date, true, fields),
    /** Refunds an additional `amount` in the order's currency, or the complete order if no amount is given. */
    refund: (id: string, amount?: number) => change("orders", id, (order) => refundOrder(order, amount)),
    cancel: (id: string) => change("orders", id, cancelOrder),
    /** Withdraws the attribution of orders, so the API no longer lists them. Returns the withdrawn orders. */
    withdraw: (...ids: string[]) => remove("orders", ...ids),
    /** Removes the host from an order, as happens when a host deletes their account. */
    loseHost: (id: string) => change("orders", id, { host: null }),
    /** Sets an order's commission rate, in percent. */
    changeRate: (id: string, rate: number) =>
      change("orders", id, (order) => withCommission({ ...order, commission_rate: rate })),
    /** Adds a new host to the roster. Returns the host's ID. */
    join(): string {
      const person = createPerson(brand.seed, brand.nextNumber++);
      brand.people = [...brand.people, person];
      add("roster", createRosterEntry(brand, person, now()));
      return person.profile.id;
    },
    /** Removes a host from the roster. Returns the roster entry's ID. */
    leave(hostId: string): string {
      const id = brand.roster.find(({ host }) => host.id === hostId)?.relationship_id ?? hostId;
      remove("roster", id);
      return id;
    },
    /** Sets a roster host's rate in percent; null restores the default. Existing orders keep their rate. */
    agreeRate(hostId: string, rate: number | null) {
      brand.people = brand.people.map((person) =>
        person.profile.id === hostId ? { ...person, rate } : person,
      );
      const commission_rate = rate ?? defaultRate;
      brand.roster = brand.roster.map((entry) =>
        entry.host.id === hostId ? { ...entry, commission_rate } : entry,
      );
    },
    addContent: () => add("content", createContent(brand, brand.nextNumber++, now())),
    addGift: () => add("gifts", createGift(brand, brand.nextNumber++, now())),
    addCode: () => add("codes", createCode(brand, brand.nextNumber++, now())),
  };
}

type RecordOf<L extends ListName> = Lists[L][number];

/** Returns functions that add, change and remove records. Each function replaces the list's array. */
function createListEdits(brand: Brand) {
  function replace<L extends ListName>(list: L, records: readonly RecordOf<L>[]): void {
    brand[list] = records as unknown as Brand[L];
  }

  /** Adds records at the start of a list. */
  function add<L extends ListName>(list: L, ...records: RecordOf<L>[]): void {
    replace(list, [...records, ...brand[list]]);
  }

  /** Replaces the record with the given key. */
  function change<L extends ListName>(
    list: L,
    key: string,
    to: Partial<RecordOf<L>> | ((record: RecordOf<L>) => RecordOf<L>),
  ): void {
    const records: readonly RecordOf<L>[] = brand[list];
    const index = records.findIndex((record) => sandboxRecordKey(list, record) === key);
    const record = records[index];
    if (!record) throw new RangeError(`${list} has no ${key}.`);
    replace(list, records.with(index, typeof to === "function" ? to(record) : { ...record, ...to }));
  }

  /** Removes records and returns them, so that `add` can restore them. */
  function remove<L extends ListName>(list: L, ...keys: string[]): RecordOf<L>[] {
    const records: readonly RecordOf<L>[] = brand[list];
    const removed = records.filter((record) => keys.includes(sandboxRecordKey(list, record)));
    if (removed.length < keys.length) throw new RangeError(`${list} has no ${keys.join(", ")}.`);
    replace(
      list,
      records.filter((record) => !removed.includes(record)),
    );
    return removed;
  }

  return { add, change, remove };
}

/** Returns the key that identifies a record in its list: `source/id` for a library file, otherwise the ID. */
export function sandboxRecordKey(list: ListName, record: RecordOf<ListName>): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as RecordOf<"recommendations">).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}
