import { isObject, type JsonObject } from "../util/json-value.js";
import { amount, date, integer, json, list, number, object, signedUrl, text, timestamp } from "./fields.js";
import { hostFields } from "./host.js";
import { type Resource, resourceDefaults } from "./resource.js";

const settledStates = ["DRAFT", "DECLINED", "ARCHIVED"];
const settledPayments = ["PAID", "REFUNDED"];

/** See "5. GET /opportunities", "6. GET /opportunities/{id}" and "Opportunity" in the API documentation. */
export const opportunities = {
  ...resourceDefaults,
  name: "opportunities",
  about: "campaigns with deliverables, assignments, payments and attachments",
  path: "/opportunities",
  scope: "opportunities:read",
  strategy: {
    kind: "details",
    path: (id) => `/opportunities/${encodeURIComponent(id)}`,
    canChange: canStillMove,
    detailRecords: null,
  },
  table: "opportunities",
  tableAbout: "one row per campaign",
  dateColumn: "created_at",
  indexes: [["id"]],
  fields: [
    text("id", "the campaign's ID"),
    text("title"),
    text("description", "brief for hosts"),
    text("project_details", "detailed project notes"),
    text("status", "`DRAFT`, `READY`, `PROPOSED`, `ACTIVE`, `COMPLETED`, `DECLINED` or `ARCHIVED`"),
    text("listing_type", "how the campaign is offered to hosts"),
    date("deadline", "due date for deliverables"),
    date("application_deadline", "last day for applications"),
    text("target_url", "landing page for campaign links"),
    object("payment", [
      amount("flatFee", "fixed fee per host"),
      number("commission", "percentage"),
      json("bonuses", "bonus terms"),
      text("terms"),
      amount("totalPotential", "maximum earnings per host"),
    ]),
    number("commission_rate", "commission percentage that overrides the default"),
    json("content_types", "requested content"),
    json("category", "campaign categories"),
    json("assignment_counts", "number of assigned hosts by status"),
    timestamp("created_at"),
    timestamp("updated_at"),
    list("deliverables", {
      table: "opportunity_deliverables",
      about: "one row per campaign deliverable",
      parentKey: [{ column: "opportunity_id", mainColumn: "id" }],
      fields: [text("id"), text("title"), text("description"), date("due_date"), timestamp("completed_at")],
    }),
    list("assignments", {
      table: "opportunity_assignments",
      about: "one row per host assigned to a campaign, with the state of both payments",
      parentKey: [{ column: "opportunity_id", mainColumn: "id" }],
      fields: [
        text("id"),
        text("status", "assignment status"),
        text("brand_payment_state"),
        text("athlete_payment_state"),
        timestamp("accepted_at"),
        timestamp("declined_at"),
        timestamp("completed_at"),
        timestamp("created_at"),
        timestamp("updated_at"),
        object("host", hostFields),
      ],
    }),
    list("attachments", {
      table: "opportunity_attachments",
      about: "one row per file attached to a campaign's brief",
      parentKey: [{ column: "opportunity_id", mainColumn: "id" }],
      hasPosition: true,
      fields: [signedUrl("url"), text("filename"), text("mime_type"), integer("file_size_bytes")],
    }),
  ],
} as const satisfies Resource;

/**
 * Returns false if the campaign has a final state, or if it is completed and every assignment is declined or paid.
 * Other campaigns can change without a new `updated_at`, for example when a payment is made.
 */
function canStillMove(record: JsonObject): boolean {
  if (settledStates.includes(String(record.status))) return false;
  if (record.status !== "COMPLETED") return true;
  const { assignments } = record;
  if (!Array.isArray(assignments)) return true;
  return assignments.some((assignment) => {
    if (!isObject(assignment)) return true;
    if (assignment.status === "DECLINED") return false;
    return (
      !settledPayments.includes(String(assignment.brand_payment_state)) ||
      assignment.athlete_payment_state !== "PAID"
    );
  });
}
