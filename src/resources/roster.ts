import { profileHost } from "./host.js";
import { integer, number, object, type Resource, text, timestamp } from "./types.js";

/** Hosts with an active relationship: the API document, "9. GET /roster" and "Roster entry". */
export const roster = {
  name: "roster",
  about: "hosts with an active relationship, their rates and campaigns",
  section: "9. GET /roster",
  path: "/roster",
  scope: "roster:read",
  plan: null,
  pagination: "documented",
  strategy: { kind: "full" },
  key: ["relationship_id"],
  query: {},
  table: "roster",
  tableAbout: "one row per relationship with a host",
  open: false,
  history: true,
  date: "joined_at",
  indexes: [["relationship_id"], ["host_id"]],
  fields: [
    text("relationship_id", "id of the brand's relationship with the host"),
    object("host", profileHost),
    text("status", "always `active` on this endpoint"),
    number("commission_rate", "percentage"),
    timestamp("joined_at", "when the relationship was created"),
    timestamp("activated_at", "when it became active"),
    object("campaigns", [
      text("status", "`active`, `invited`, `completed` or `none`"),
      integer("invited"),
      integer("active"),
      integer("completed"),
      integer("declined"),
    ]),
  ],
} as const satisfies Resource;
