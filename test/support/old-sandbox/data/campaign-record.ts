import type { Campaign } from "./campaigns.js";
import { type HostRecord, hostRecord } from "./hosts.js";
import { timeText } from "./timeline.js";
import type { World } from "./world.js";

/** An opportunity as `/opportunities` lists it. */
export function campaignRecord(campaign: Campaign) {
  const counts: Record<string, number> = {};
  for (const { status } of campaign.assignments) counts[status] = (counts[status] ?? 0) + 1;
  return {
    id: campaign.id,
    title: campaign.title,
    description: campaign.description,
    project_details: campaign.projectDetails,
    status: campaign.status,
    listing_type: campaign.listingType,
    deadline: campaign.deadline,
    application_deadline: campaign.applicationDeadline,
    target_url: campaign.targetUrl,
    payment: campaign.payment,
    commission_rate: campaign.commissionRate,
    content_types: campaign.contentTypes,
    category: campaign.category,
    attachments: campaign.attachments,
    assignment_counts: counts,
    created_at: timeText(campaign.createdAt),
    updated_at: timeText(campaign.updatedAt),
  };
}

/** An opportunity as `/opportunities/{id}` shows it: with `deliverables` and `assignments`. */
export function campaignDetail(world: World, campaign: Campaign) {
  return {
    ...campaignRecord(campaign),
    deliverables: campaign.deliverables.map((item) => ({
      id: item.id,
      title: item.title,
      description: item.description,
      due_date: item.dueDate,
      completed_at: timeText(item.completedAt),
    })),
    assignments: campaign.assignments.map((item) => ({
      id: item.id,
      status: item.status,
      brand_payment_state: item.brandPayment,
      athlete_payment_state: item.athletePayment,
      accepted_at: timeText(item.acceptedAt),
      declined_at: timeText(item.declinedAt),
      completed_at: timeText(item.completedAt),
      created_at: timeText(item.createdAt),
      updated_at: timeText(item.updatedAt),
      host: hostOf(world, item.host),
    })),
  };
}

function hostOf(world: World, place: number): HostRecord | null {
  const host = world.hosts[place];
  return host ? hostRecord(host) : null;
}
