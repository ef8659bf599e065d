import { integer, number, object, text, timestamp } from "./fields.js";
import { hostProfileFields } from "./host.js";
import { type Resource, resourceDefaults } from "./resource.js";

/** See "9. GET /roster" and "Roster entry" in the API documentation. */
export const roster = {
  ...resourceDefaults,
  name: "roster",
  about: "hosts with an active relationship, their rates and campaigns",
  path: "/roster",
  scope: "roster:read",
  strategy: { kind: "list" },
  key: ["relationship_id"],
  table: "roster",
  tableAbout: "one row per host relationship",
  dateColumn: "joined_at",
  indexes: [["relationship_id"], ["host_id"]],
  fields: [
    text("relationship_id", "ID of the brand's relationship with the host"),
    object("host", hostProfileFields),
    text("status", "always `active` in the roster"),
    number("commission_rate", "percentage"),
    timestamp("joined_at", "the time at which the relationship was created"),
    timestamp("activated_at", "the time at which the relationship became active"),
    object("campaigns", [
      text("status", "`active`, `invited`, `completed` or `none`"),
      integer("invited"),
      integer("active"),
      integer("completed"),
      integer("declined"),
    ]),
  ],
} as const satisfies Resource;
