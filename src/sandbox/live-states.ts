import type { Brand } from "./brand.js";
import { chance, type Draws, pick } from "./data/random.js";
import type { Happenings } from "./happenings.js";
import type { Assignment } from "./records.js";
import { timeText } from "./time.js";

/** How something goes when its time has come. */
export type Course = (d: Draws, happenings: Happenings, brand: Brand, at: number) => unknown;

/** The states that may follow a campaign's, an assignment's, or a payment's. */
const after: Record<string, readonly string[]> = {
  DRAFT: ["READY"],
  READY: ["PROPOSED"],
  PROPOSED: ["ACTIVE", "ACTIVE", "DECLINED"],
  ACTIVE: ["COMPLETED"],
  NOT_INVOICED: ["INVOICED"],
  INVOICED: ["PAYMENT_PENDING"],
  PAYMENT_PENDING: ["PAID"],
  NOT_EARNED: ["EARNED"],
  EARNED: ["SCHEDULED_FOR_PAYOUT"],
  SCHEDULED_FOR_PAYOUT: ["PAID"],
};

/** One campaign goes one step further. */
export const nextOfCampaign: Course = (d, { moveCampaign }, { opportunities }) => {
  if (opportunities.length === 0) return;
  const { id, status } = pick(d, opportunities);
  const choices = status === "COMPLETED" ? ["ARCHIVED"] : after[status];
  if (choices) moveCampaign(id, pick(d, choices));
};

/** One assignment goes one step further: its work, or one of its payments once the work is done. */
export const nextOfAssignment: Course = (d, { changeAssignment }, { opportunities }, at) => {
  const assignments = opportunities.flatMap((one) => one.assignments);
  if (assignments.length === 0) return;
  const assignment = pick(d, assignments);
  const payment = chance(d, 0.5) ? "brand_payment_state" : "athlete_payment_state";
  const member = assignment.status === "COMPLETED" ? payment : "status";
  const choices = after[assignment[member] ?? ""];
  if (choices) changeAssignment(assignment.id, stepTo(member, pick(d, choices), timeText(at)));
};

/** A step of the work has its own date. */
function stepTo(member: keyof Assignment, state: string, at: string): Partial<Assignment> {
  if (state === "ACTIVE") return { status: state, accepted_at: at };
  if (state === "DECLINED") return { status: state, declined_at: at };
  if (state === "COMPLETED") return { status: state, completed_at: at, athlete_payment_state: "EARNED" };
  return { [member]: state };
}
