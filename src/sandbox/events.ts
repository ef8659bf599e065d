import { type Brand, defaultRate, type Order } from "./brand.js";
import { createContent } from "./data/library-data.js";
import { cancelOrder, createOrderFactory, refundOrder, withCommission } from "./data/order-data.js";
import { createPerson, createRosterEntry } from "./data/people-data.js";
import { createCode, createGift } from "./data/undocumented-data.js";
import { createListEdits } from "./live.js";

export type BrandEvents = ReturnType<typeof createBrandEvents>;

/**
 * Returns all that can happen at a brand. Each happening replaces an array, and never changes one; it throws a
 * `RangeError` if it names a record that is missing.
 * @param now milliseconds since 1970: when it happens
 */
export function createBrandEvents(brand: Brand, now: () => number) {
  const { add, change, remove } = createListEdits(brand);

  function place(date: number, manual: boolean, fields: Partial<Order> = {}): string {
    const order = { ...createOrderFactory(brand)(brand.nextNumber++, date, manual), ...fields };
    add("orders", order);
    return order.id;
  }

  return {
    add,
    change,
    remove,
    /** A shopper orders: a link or a code attributes it at once. Returns the order's id. */
    order: (fields?: Partial<Order>, at = now()) => place(at, false, fields),
    /** The team matches an order by hand that was placed at `date`. Returns its id. */
    attributeLate: (date: number, fields?: Partial<Order>) => place(date, true, fields),
    /** Refunds `amount` more, in the order's currency; without it, all. */
    refund: (id: string, amount?: number) => change("orders", id, (order) => refundOrder(order, amount)),
    cancel: (id: string) => change("orders", id, cancelOrder),
    /** The attribution is withdrawn: the order vanishes. Returns it. */
    withdraw: (...ids: string[]) => remove("orders", ...ids),
    /** The order's host no longer exists. */
    loseHost: (id: string) => change("orders", id, { host: null }),
    /** Sets the rate of one order, percentage. */
    changeRate: (id: string, rate: number) =>
      change("orders", id, (order) => withCommission({ ...order, commission_rate: rate })),
    /** A new host joins the roster. Returns the host's id. */
    join(): string {
      const person = createPerson(brand.seed, brand.nextNumber++);
      brand.people = [...brand.people, person];
      add("roster", createRosterEntry(brand, person, now()));
      return person.profile.id;
    },
    /** A host leaves. Returns the id of its entry in the roster. */
    leave(hostId: string): string {
      const id = brand.roster.find(({ host }) => host.id === hostId)?.relationship_id ?? hostId;
      remove("roster", id);
      return id;
    },
    /** Agrees a rate with a host of the roster; null: the default again. Orders keep theirs. */
    agreeRate(hostId: string, rate: number | null) {
      brand.people = brand.people.map((one) => (one.profile.id === hostId ? { ...one, rate } : one));
      const commission_rate = rate ?? defaultRate;
      brand.roster = brand.roster.map((one) => (one.host.id === hostId ? { ...one, commission_rate } : one));
    },
    addContent: () => add("content", createContent(brand, brand.nextNumber++, now())),
    addGift: () => add("gifts", createGift(brand, brand.nextNumber++, now())),
    addCode: () => add("codes", createCode(brand, brand.nextNumber++, now())),
  };
}
