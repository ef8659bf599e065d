import type { Assignment, Campaign } from "./data/campaigns.js";
import type { Dataset } from "./data/dataset.js";
import { always } from "./data/order-book.js";
import { type OrderFacts, orderId, stateBits } from "./data/order-facts.js";
import { between, chance, type Draws, draws, hash, next, pick, topics } from "./data/random.js";
import { day, historyDays, hour, second } from "./data/timeline.js";
import type { SandboxEvents } from "./events.js";

/** Lets time pass. What happens in an hour depends on the seed and on what happened before, not on who looks when. */
export interface Live {
  /** Up to when things have happened. */
  now(): number;
  /** The instant of what is happening just now; undefined outside `advanceTo`. */
  moment(): number | undefined;
  advanceTo(time: number): void;
}

interface Happening {
  at: number;
  d: Draws;
  happen(d: Draws, at: number): void;
}

/**
 * @param anchor when things begin to happen
 * @param pace multiplies how often they do
 */
export function createLive(data: Dataset, events: SandboxEvents, anchor: number, pace: number): Live {
  const { world, orders } = data;
  // A third above the average of the history: the density of its last days.
  const ordersPerHour = ((4 / 3) * world.timeline.length * pace) / (historyDays * 24);
  const perDay = (times: number) => (times * pace) / 24;

  /** What can happen, and how often it is expected in an hour. */
  const kinds: readonly (readonly [expected: number, happen: Happening["happen"]])[] = [
    [ordersPerHour, (_, at) => events.newOrder(Math.floor(at / second) * second)],
    [ordersPerHour * 0.03, lateAttribution],
    [ordersPerHour * 0.06, (d, at) => refundSome(d, at)],
    [ordersPerHour * 0.02, (d, at) => cancelSome(d, at)],
    [
      ordersPerHour * 0.002,
      (d, at) => withOrder(d, at, (facts) => events.withdraw(orderId(world, facts.index))),
    ],
    [
      ordersPerHour * 0.002,
      (d, at) => withOrder(d, at, (facts) => events.changeHost(orderId(world, facts.index), null)),
    ],
    [perDay(0.15), leave],
    [perDay(0.2), () => events.joinRoster()],
    [perDay(0.1), rerate],
    [perDay(0.3), moveCampaign],
    [perDay(0.05), () => events.addCampaign()],
    [perDay(1.5), moveAssignment],
    [perDay(0.6), () => events.addContent()],
    [perDay(0.05), removeContent],
    [perDay(0.1), () => events.addGift()],
    [perDay(0.05), () => events.addCode()],
  ];

  let done = anchor;
  let slot = -1;
  let due: Happening[] = [];
  let moment: number | undefined;

  function happeningsOf(number: number): Happening[] {
    const list: Happening[] = [];
    for (const [kind, [expected, happen]] of kinds.entries()) {
      const d = draws(world.seed + kind, topics.live, number);
      const count = Math.floor(expected + next(d));
      for (let n = 0; n < count; n++) {
        const at = anchor + (number + next(d)) * hour;
        list.push({ at, d: { state: hash(world.seed + kind, topics.live, number * 8192 + n + 1) }, happen });
      }
    }
    return list.sort((a, b) => a.at - b.at);
  }

  function advanceTo(time: number): void {
    while (done < time) {
      if (due.length === 0 && anchor + (slot + 1) * hour <= time) due = happeningsOf(++slot);
      const end = Math.min(time, anchor + (slot + 1) * hour);
      const waiting = due.findIndex(({ at }) => at > end);
      for (const one of due.splice(0, waiting < 0 ? due.length : waiting)) {
        moment = Math.floor(one.at);
        one.happen(one.d, moment);
      }
      done = end;
    }
    moment = undefined;
  }

  /** The order placed some days to months before, if it is still as it was. */
  function withOrder(d: Draws, at: number, then: (facts: OrderFacts) => void): void {
    const age = Math.min(200 * day, 0.3 * day - Math.log(1 - next(d)) * 25 * day);
    const place = orders.page({ from: always.from, to: Math.floor(at - age) }, "all", 0, 1)[0];
    if (!place) return;
    const facts = orders.facts(place);
    if ((facts.bits & (stateBits.cancelled | stateBits.refunded)) === 0) then(facts);
  }

  function lateAttribution(d: Draws, at: number): void {
    const age = Math.min(300 * day, -Math.log(1 - next(d)) * 45 * day);
    events.lateOrder(Math.floor((at - age) / second) * second);
  }

  function refundSome(d: Draws, at: number): void {
    withOrder(d, at, (facts) => {
      const part = chance(d, 0.45) ? ((facts.total ?? 0) * (0.1 + 0.6 * next(d))) / 100 : undefined;
      events.refund(orderId(world, facts.index), part);
    });
  }

  function cancelSome(d: Draws, at: number): void {
    withOrder(d, at, (facts) => {
      const id = orderId(world, facts.index);
      events.cancel(id);
      if (chance(d, 0.25)) events.refund(id);
    });
  }

  function leave(d: Draws): void {
    if (data.roster.length < 2) return;
    events.leaveRoster(world.hosts[pick(d, data.roster).host]?.id ?? "");
  }

  function rerate(d: Draws): void {
    if (data.roster.length === 0) return;
    const entry = pick(d, data.roster);
    events.setRate(world.hosts[entry.host]?.id ?? "", chance(d, 0.2) ? null : between(d, 5, 25));
  }

  function moveCampaign(d: Draws): void {
    const campaign = pick(d, data.campaigns);
    const status = nextCampaignState(d, campaign);
    if (status) events.moveCampaign(campaign.id, status);
  }

  function moveAssignment(d: Draws, at: number): void {
    const open = data.campaigns.filter(({ assignments }) => assignments.length > 0);
    if (open.length === 0) return;
    const assignment = pick(d, pick(d, open).assignments);
    const change = nextAssignmentState(d, assignment, at);
    if (change) events.setAssignment(assignment.id, change);
  }

  function removeContent(d: Draws): void {
    if (data.library.length === 0) return;
    const item = pick(d, data.library);
    events.removeContent(item.source, item.id);
  }

  return { now: () => done, moment: () => moment, advanceTo };
}

function nextCampaignState(d: Draws, { status }: Campaign): string | undefined {
  const steps: Record<string, readonly string[]> = {
    DRAFT: ["READY"],
    READY: ["PROPOSED"],
    PROPOSED: ["ACTIVE", "ACTIVE", "DECLINED"],
    ACTIVE: ["COMPLETED"],
    COMPLETED: ["ARCHIVED"],
  };
  const choices = steps[status];
  return choices && pick(d, choices);
}

/** One step of the work, or of either payment once the work is done. */
function nextAssignmentState(d: Draws, now: Assignment, at: number): Partial<Assignment> | undefined {
  if (now.status === "DRAFT") return { status: "READY" };
  if (now.status === "READY") return { status: "PROPOSED" };
  if (now.status === "PROPOSED") {
    return chance(d, 0.75) ? { status: "ACTIVE", acceptedAt: at } : { status: "DECLINED", declinedAt: at };
  }
  if (now.status === "ACTIVE") {
    return { status: "COMPLETED", completedAt: at, brandPayment: "NOT_INVOICED", athletePayment: "EARNED" };
  }
  if (now.status !== "COMPLETED") return undefined;
  const brand: Record<string, string> = {
    NOT_INVOICED: "INVOICED",
    INVOICED: "PAYMENT_PENDING",
    PAYMENT_PENDING: "PAID",
  };
  const athlete: Record<string, string> = {
    NOT_EARNED: "EARNED",
    EARNED: "SCHEDULED_FOR_PAYOUT",
    SCHEDULED_FOR_PAYOUT: "PAID",
  };
  if (chance(d, 0.5)) return { brandPayment: brand[now.brandPayment ?? ""] ?? now.brandPayment };
  return { athletePayment: athlete[now.athletePayment ?? ""] ?? now.athletePayment };
}
