import type { Brand } from "./brand.js";
import { changesOf } from "./changes.js";
import { countsOf, createCampaign } from "./data/campaigns.js";
import { campaignsOf, createRecommendation, createRosterEntry } from "./data/hosts.js";
import { createContent } from "./data/library.js";
import { cancelled, createOrderMaker, refunded, settled } from "./data/orders.js";
import { contentHostOf, createPerson, hostOf } from "./data/people.js";
import { createCode, createGift } from "./data/unshown.js";
import type { Assignment, ContentItem, HostProfile, Order } from "./records.js";
import { timeText } from "./time.js";

export type Happenings = ReturnType<typeof happeningsOf>;

/**
 * What can happen at a brand. Each puts another array, with other records, where the old one was; one that names a
 * record which is not there throws a `RangeError`.
 * @param now milliseconds since 1970: when it happens
 */
export function happeningsOf(brand: Brand, now: () => number) {
  const { add, change, remove, changeAll } = changesOf(brand);

  function personOf(hostId: string) {
    const person = brand.people.find(({ profile }) => profile.id === hostId);
    if (!person) throw new RangeError(`The brand never met host ${hostId}.`);
    return person;
  }

  function place(date: number, manual: boolean, fields: Partial<Order> = {}): string {
    const order = { ...createOrderMaker(brand).place(brand.serial++, date, manual), ...fields };
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
    refund: (id: string, amount?: number) => change("orders", id, (order) => refunded(order, amount)),
    cancel: (id: string) => change("orders", id, cancelled),
    /** The attribution is withdrawn: the order vanishes. Returns it. */
    withdraw: (...ids: string[]) => remove("orders", ...ids),
    /** The order keeps its id, and moves to another date. */
    redate: (id: string, date: number) => change("orders", id, { order_date: timeText(date) }),
    /** Attributes the order to another host; null: to one that no longer exists. */
    reattribute: (id: string, hostId: string | null) =>
      change("orders", id, { host: hostId === null ? null : hostOf(personOf(hostId)) }),
    /** Sets the rate of one order, percentage. */
    changeRate: (id: string, rate: number) =>
      change("orders", id, (order) => settled({ ...order, commission_rate: rate })),
    /** Changes the brand's default: every order and roster entry that goes by it changes, without an event. */
    changeDefaultRate(rate: number) {
      const before = brand.defaultRate;
      brand.defaultRate = rate;
      changeAll("orders", (one) =>
        one.commission_rate === before ? settled({ ...one, commission_rate: rate }) : one,
      );
      changeAll("roster", (one) =>
        one.commission_rate === before ? { ...one, commission_rate: rate } : one,
      );
    },
    /** A host joins the roster: one who left, or somebody new. Returns the host's id. */
    join(hostId?: string): string {
      const person = hostId === undefined ? createPerson(brand.seed, brand.serial++) : personOf(hostId);
      if (hostId === undefined) brand.people = [...brand.people, person];
      add("roster", createRosterEntry(person, brand.defaultRate, now(), brand.opportunities, brand.serial++));
      return person.profile.id;
    },
    leave(hostId: string) {
      const entry = brand.roster.find(({ host }) => host.id === hostId);
      remove("roster", entry?.relationship_id ?? hostId);
    },
    /** Agrees a rate with a host of the roster; null: the default again. Orders keep theirs. */
    agreeRate(hostId: string, rate: number | null) {
      brand.people = brand.people.map((one) => (one.profile.id === hostId ? { ...one, rate } : one));
      changeAll("roster", (one) =>
        one.host.id === hostId ? { ...one, commission_rate: rate ?? brand.defaultRate } : one,
      );
    },
    /** The host's name or bio changes, in whatever shows it. */
    renameHost(hostId: string, fields: Partial<HostProfile>) {
      const { profile } = personOf(hostId);
      const person = { ...personOf(hostId), profile: { ...profile, ...fields } };
      brand.people = brand.people.map((one) => (one.profile === profile ? person : one));
      const base = hostOf(person);
      changeAll("orders", (one) => (one.host?.id === hostId ? { ...one, host: base } : one));
      changeAll("content", (one) => (one.host?.id === hostId ? { ...one, host: contentHostOf(base) } : one));
      changeAll("roster", (one) => (one.host.id === hostId ? { ...one, host: person.profile } : one));
      changeAll("recommendations", (one) =>
        one.host.id === hostId ? { ...one, host: { ...person.profile, motto: person.motto } } : one,
      );
    },
    /** Sets which of the brand's products a host recommends, by their places; none: the host stops. */
    recommend(hostId: string, ...places: number[]) {
      const before = brand.recommendations.some(({ host }) => host.id === hostId);
      if (before) remove("recommendations", hostId);
      const products = places.flatMap((n) => brand.products.slice(n, n + 1));
      if (products.length > 0) add("recommendations", createRecommendation(personOf(hostId), products));
    },
    /** A campaign is proposed to hosts. Returns its id. */
    propose(): string {
      const campaign = createCampaign(brand, brand.serial++, now(), now());
      add("opportunities", campaign);
      return campaign.id;
    },
    moveCampaign: (id: string, status: string) =>
      change("opportunities", id, { status, updated_at: timeText(now()) }),
    /** Changes one assignment and its `updated_at`; its campaign's `updated_at` stays. */
    changeAssignment(id: string, fields: Partial<Assignment>) {
      const campaign = brand.opportunities.find(({ assignments }) =>
        assignments.some((one) => one.id === id),
      );
      if (!campaign) throw new RangeError(`No campaign has an assignment ${id}.`);
      const assignments = campaign.assignments.map((one) =>
        one.id === id ? { ...one, updated_at: timeText(now()), ...fields } : one,
      );
      change("opportunities", campaign.id, { assignments, assignment_counts: countsOf(assignments) });
      const after = assignments.find((one) => one.id === id);
      const assignment_status = after?.status ?? null;
      changeAll("content", (one) =>
        one.opportunity?.assignment_id === id
          ? { ...one, opportunity: { ...one.opportunity, assignment_status } }
          : one,
      );
      changeAll("roster", (one) =>
        one.host.id === after?.host?.id
          ? { ...one, campaigns: campaignsOf(one.host.id, brand.opportunities) }
          : one,
      );
    },
    /** A file is added to the library. Returns its key, `source/id`. */
    addContent(fields: Partial<ContentItem> = {}): string {
      const item = { ...createContent(brand, brand.serial++, now()), ...fields };
      item.download_path = `/content/${item.source}/${item.id}/download`;
      add("content", item);
      return `${item.source}/${item.id}`;
    },
    removeContent: (key: string) => remove("content", key),
    addGift: () => add("gifts", createGift(brand, brand.serial++, now())),
    addCode: () => add("codes", createCode(brand, brand.serial++, now())),
    /** Another answer as the results of a survey. */
    changeResults(surveyId: string, results: unknown) {
      brand.results = { ...brand.results, [surveyId]: results };
    },
  };
}
