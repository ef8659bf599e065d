import { type Brand, defaultRate, type ListName, type Lists, type Order } from "./brand.js";
import { createContent } from "./data/library-data.js";
import { cancelOrder, createOrderFactory, refundOrder, withCommission } from "./data/order-data.js";
import { createPerson, createRosterEntry } from "./data/people-data.js";
import { createCode, createGift } from "./data/undocumented-data.js";

export type BrandEvents = ReturnType<typeof createBrandEvents>;

/**
 * Returns functions that change a brand like real events. Each function throws a `RangeError` for an unknown ID. Arrays
 * and records are replaced rather than changed, so a shallow copy of a brand is a snapshot.
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
    /** Adds an order that is attributed immediately. Returns the order's ID. */
    order: (fields?: Partial<Order>, at = now()) => addOrder(at, false, fields),
    /** Adds an order that was placed at `date` but attributed manually just now. Returns the order's ID. */
    attributeLate: (date: number, fields?: Partial<Order>) => addOrder(date, true, fields),
    /** Adds a refund to an order, by default for the full amount. */
    refund: (id: string, amount?: number) => change("orders", id, (order) => refundOrder(order, amount)),
    cancel: (id: string) => change("orders", id, cancelOrder),
    /** Withdraws the attribution of orders. The API then no longer returns them. */
    withdraw: (...ids: string[]) => remove("orders", ...ids),
    /** Removes the host from an order, as if the host's account had been deleted. */
    loseHost: (id: string) => change("orders", id, { host: null }),
    changeRate: (id: string, rate: number) =>
      change("orders", id, (order) => withCommission({ ...order, commission_rate: rate })),
    /** Adds a new host to the roster. Returns the host's ID. */
    join(): string {
      const person = createPerson(brand.seed, brand.nextNumber++);
      brand.people = [...brand.people, person];
      add("roster", createRosterEntry(brand, person, now()));
      return person.profile.id;
    },
    /** Removes a host from the roster. Returns the ID of the roster entry. */
    leave(hostId: string): string {
      const id = brand.roster.find(({ host }) => host.id === hostId)?.relationship_id ?? hostId;
      remove("roster", id);
      return id;
    },
    /** Sets a host's rate in percent, or restores the default if `rate` is null. Existing orders keep their rate. */
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

function createListEdits(brand: Brand) {
  function replace<L extends ListName>(list: L, records: readonly RecordOf<L>[]): void {
    brand[list] = records as unknown as Brand[L];
  }

  function add<L extends ListName>(list: L, ...records: RecordOf<L>[]): void {
    replace(list, [...records, ...brand[list]]);
  }

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

/**
 * Returns the key that identifies a record in its list: `source/id` for library files, and the ID for all other
 * records.
 */
export function sandboxRecordKey(list: ListName, record: RecordOf<ListName>): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as RecordOf<"recommendations">).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}
