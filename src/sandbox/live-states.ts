import type { Brand } from "./brand.js";
import { chance, type Draws, pick } from "./data/random.js";
import type { Happenings } from "./happenings.js";
import type { Assignment } from "./records.js";
import { timeText } from "./time.js";

/** How something goes when its time has come. */
export type Course = (d: Draws, happenings: Happenings, brand: Brand, at: number) => unknown;

const campaignSteps: Record<string, readonly string[]> = {
  DRAFT: ["READY"],
  READY: ["PROPOSED"],
  PROPOSED: ["ACTIVE", "ACTIVE", "DECLINED"],
  ACTIVE: ["COMPLETED"],
  COMPLETED: ["ARCHIVED"],
};
const brandPaymentSteps: Record<string, string> = {
  NOT_INVOICED: "INVOICED",
  INVOICED: "PAYMENT_PENDING",
  PAYMENT_PENDING: "PAID",
};
const hostPaymentSteps: Record<string, string> = {
  NOT_EARNED: "EARNED",
  EARNED: "SCHEDULED_FOR_PAYOUT",
  SCHEDULED_FOR_PAYOUT: "PAID",
};

/** One campaign goes one step further. */
export function nextOfCampaign(d: Draws, { moveCampaign }: Happenings, { opportunities }: Brand): void {
  if (opportunities.length === 0) return;
  const { id, status } = pick(d, opportunities);
  const choices = campaignSteps[status];
  if (choices) moveCampaign(id, pick(d, choices));
}

/** One assignment goes one step further: its work, or one of its payments once the work is done. */
export function nextOfAssignment(
  d: Draws,
  { changeAssignment }: Happenings,
  { opportunities }: Brand,
  at: number,
): void {
  const assignments = opportunities.flatMap((one) => one.assignments);
  if (assignments.length === 0) return;
  const assignment = pick(d, assignments);
  const fields = stepOf(d, assignment, timeText(at));
  if (fields) changeAssignment(assignment.id, fields);
}

function stepOf(d: Draws, now: Assignment, at: string): Partial<Assignment> | undefined {
  const { status, brand_payment_state: brand, athlete_payment_state: host } = now;
  if (status === "DRAFT") return { status: "READY" };
  if (status === "READY") return { status: "PROPOSED" };
  if (status === "PROPOSED")
    return chance(d, 0.75) ? { status: "ACTIVE", accepted_at: at } : { status: "DECLINED", declined_at: at };
  if (status === "ACTIVE") return { status: "COMPLETED", completed_at: at, athlete_payment_state: "EARNED" };
  if (status !== "COMPLETED") return undefined;
  if (chance(d, 0.5)) return { brand_payment_state: brandPaymentSteps[brand ?? ""] ?? brand };
  return { athlete_payment_state: hostPaymentSteps[host ?? ""] ?? host };
}
