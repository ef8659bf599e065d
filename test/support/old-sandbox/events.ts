import { type Assignment, type Campaign, createCampaign } from "./data/campaigns.js";
import type { Dataset } from "./data/dataset.js";
import { createHost } from "./data/hosts.js";
import { type ContentItem, createContent } from "./data/library.js";
import { type OrderChange, type OrderFacts, stateBits } from "./data/order-facts.js";
import { topics, uuid } from "./data/random.js";
import { createCode, createGift, type IdForm, type OpenRecord, openCounts } from "./data/undocumented.js";

/** Things that happen at the brand, on demand. Ids are those of the API; an unknown one throws a `RangeError`. */
export interface SandboxEvents {
  /** A tracked order, placed at `at` (milliseconds; default: now). Returns its id. */
  newOrder(at?: number): string;
  /** A manual match today of an order placed long ago. Returns its id. */
  lateOrder(orderDate: number): string;
  /** Refunds `amount` more, in the order's currency; without it, all. Returns whether it is now fully refunded. */
  refund(orderId: string, amount?: number): boolean;
  cancel(orderId: string): void;
  /** The attribution is withdrawn: the order vanishes. */
  withdraw(orderId: string): void;
  /** The order keeps its id and moves to another date. */
  redate(orderId: string, date: number): void;
  /** Attributes the order to another host; null: to one that no longer exists. */
  changeHost(orderId: string, hostId: string | null): void;
  /** Sets the rate, percentage, on one order. */
  changeCommission(orderId: string, rate: number): void;
  /** Changes the brand's default: every order and roster entry without a rate of its own changes, silently. */
  setDefaultRate(rate: number): void;
  leaveRoster(hostId: string): void;
  /** Returns the new relationship's id. Without a host: one who is not on the roster, or a new one. */
  joinRoster(hostId?: string): string;
  /** Sets the host's rate with the brand; null: back to the default. Orders keep theirs. */
  setRate(hostId: string, rate: number | null): void;
  renameHost(
    hostId: string,
    names: {
      username?: string | null;
      firstName?: string | null;
      lastName?: string | null;
      intro?: string | null;
    },
  ): void;
  moveCampaign(id: string, status: string): void;
  /** A new campaign, proposed to hosts today. Returns its id. */
  addCampaign(): string;
  removeCampaign(id: string): void;
  /** Changes one assignment (and its `updated_at`), but not its campaign's `updated_at`. */
  setAssignment(id: string, change: Partial<Omit<Assignment, "id">>): void;
  /** Adds a library file; `change` overrides what would be drawn. */
  addContent(change?: Partial<Omit<ContentItem, "id">>): { source: string; id: string };
  removeContent(source: string, id: string): void;
  /** Sets the products (places in the catalogue) a host recommends; none: the host stops recommending. */
  setRecommendation(hostId: string, products: readonly number[]): void;
  addGift(): OpenRecord;
  addCode(): OpenRecord;
  /** Changes fields of one gift, code or survey in place. */
  setOpenRecord(
    set: "gifts" | "codes" | "surveys",
    id: string | number,
    change: Record<string, unknown>,
  ): void;
  removeOpenRecord(set: "gifts" | "codes" | "surveys", id: string | number): void;
}

export function createEvents(data: Dataset, now: () => number, ids: IdForm): SandboxEvents {
  const { world, orders } = data;
  let relationships = world.hosts.length;
  let campaigns = data.campaigns.length;
  let files = data.library.length;
  let opened = openCounts.gifts + openCounts.codes;

  function factsOf(orderId: string): OrderFacts {
    const place = orders.find(orderId);
    if (!place) throw new RangeError(`No such order: ${orderId}.`);
    return orders.facts(place);
  }

  function changeOrder(orderId: string, change: OrderChange): void {
    factsOf(orderId);
    orders.change(orderId, change);
  }

  function hostPlace(hostId: string): number {
    const place = world.hosts.findIndex(({ id }) => id === hostId);
    if (place < 0) throw new RangeError(`No such host: ${hostId}.`);
    return place;
  }

  function relationship(hostId: string) {
    const place = hostPlace(hostId);
    const entry = data.roster.find(({ host }) => host === place);
    if (!entry) throw new RangeError(`Not on the roster: ${hostId}.`);
    return entry;
  }

  function refund(orderId: string, amount?: number): boolean {
    const facts = factsOf(orderId);
    const total = facts.total ?? 0;
    const refundCents =
      amount === undefined ? total : Math.min(total, facts.refund + Math.round(amount * 100));
    const full = refundCents >= total;
    const rest = facts.bits & ~(stateBits.refunded | stateBits.partial);
    orders.change(orderId, { refundCents, bits: rest | (full ? stateBits.refunded : stateBits.partial) });
    return full;
  }

  function joinRoster(hostId?: string): string {
    const taken = new Set(data.roster.map(({ host }) => host));
    let host =
      hostId === undefined ? [...world.hosts.keys()].find((place) => !taken.has(place)) : hostPlace(hostId);
    if (host !== undefined && taken.has(host)) throw new RangeError(`Already on the roster: ${hostId}.`);
    host ??= world.hosts.push(createHost(world.seed, world.hosts.length)) - 1;
    const id = uuid(world.seed, topics.relationship, ++relationships);
    const at = now();
    data.roster.unshift({
      id,
      host,
      rate: world.hosts[host]?.customRate ?? null,
      joinedAt: at,
      activatedAt: at,
    });
    return id;
  }

  function findAssignment(id: string): Assignment {
    const found = data.campaigns.flatMap(({ assignments }) => assignments).find((one) => one.id === id);
    if (!found) throw new RangeError(`No such assignment: ${id}.`);
    return found;
  }

  function addContent(change: Partial<Omit<ContentItem, "id">> = {}) {
    const item = { ...createContent(world, data.campaigns, files++, now()), ...change };
    if (change.size !== undefined && change.statedSize === undefined) item.statedSize = change.size;
    const place = data.library.findIndex(({ createdAt }) => createdAt <= item.createdAt);
    data.library.splice(place < 0 ? data.library.length : place, 0, item);
    return { source: item.source, id: item.id };
  }

  function removeContent(source: string, id: string): void {
    removeWhere(data.library, (item) => item.source === source && item.id === id, id);
  }

  function campaignOf(id: string): Campaign {
    const campaign = data.campaigns.find((one) => one.id === id);
    if (!campaign) throw new RangeError(`No such opportunity: ${id}.`);
    return campaign;
  }

  function setRecommendation(hostId: string, products: readonly number[]): void {
    const host = hostPlace(hostId);
    const known = data.recommenders.findIndex((one) => one.host === host);
    if (known >= 0)
      data.recommenders.splice(known, 1, ...(products.length ? [{ host, products: [...products] }] : []));
    else if (products.length > 0) data.recommenders.push({ host, products: [...products] });
  }

  function openRecord(set: "gifts" | "codes" | "surveys", id: string | number): OpenRecord {
    const record = data[set].find((one) => one.id === id);
    if (!record) throw new RangeError(`No such record in ${set}: ${id}.`);
    return record;
  }

  function open(list: OpenRecord[], create: typeof createGift): OpenRecord {
    const record = create(world, ids, opened++);
    list.unshift(record);
    return record;
  }

  return {
    newOrder: (at = now()) => orders.insert(at, { manual: false, bits: 0 }),
    lateOrder: (orderDate) => orders.insert(orderDate, { manual: true, bits: 0 }),
    refund,
    cancel: (orderId) => changeOrder(orderId, { bits: factsOf(orderId).bits | stateBits.cancelled }),
    withdraw(orderId) {
      factsOf(orderId);
      orders.remove(orderId);
    },
    redate(orderId, date) {
      factsOf(orderId);
      orders.redate(orderId, date);
    },
    changeHost: (orderId, hostId) => changeOrder(orderId, { host: hostId === null ? -1 : hostPlace(hostId) }),
    changeCommission: (orderId, rate) => changeOrder(orderId, { rate }),
    setDefaultRate(rate) {
      world.defaultRate = rate;
    },
    leaveRoster(hostId) {
      removeWhere(data.roster, (entry) => entry === relationship(hostId), hostId);
    },
    joinRoster,
    setRate(hostId, rate) {
      relationship(hostId).rate = rate;
    },
    renameHost(hostId, names) {
      Object.assign(world.hosts[hostPlace(hostId)] ?? {}, names);
    },
    addCampaign() {
      const campaign = createCampaign(world, campaigns++, now());
      data.campaigns.unshift(campaign);
      return campaign.id;
    },
    removeCampaign(id) {
      const campaign = campaignOf(id);
      removeWhere(data.campaigns, (one) => one === campaign, id);
    },
    moveCampaign(id, status) {
      Object.assign(campaignOf(id), { status, updatedAt: now() });
    },
    setAssignment(id, change) {
      Object.assign(findAssignment(id), { updatedAt: now(), ...change });
    },
    addContent,
    removeContent,
    setRecommendation,
    addGift: () => open(data.gifts, createGift),
    addCode: () => open(data.codes, createCode),
    setOpenRecord(set, id, change) {
      Object.assign(openRecord(set, id), change);
    },
    removeOpenRecord(set, id) {
      const record = openRecord(set, id);
      removeWhere(data[set], (one) => one === record, String(id));
    },
  };
}

function removeWhere<T>(list: T[], matches: (item: T) => boolean, id: string): void {
  const place = list.findIndex(matches);
  if (place < 0) throw new RangeError(`No such record: ${id}.`);
  list.splice(place, 1);
}
