import { date, integer, object, text, timestamp } from "./fields.js";
import { type Resource, resourceDefaults } from "./resource.js";

/** See "7. GET /content" and "Content item" in the API documentation. */
export const content = {
  ...resourceDefaults,
  name: "content",
  about: "library files: deliverables from hosts and uploads by the team",
  path: "/content",
  scope: "content:read",
  strategy: {
    kind: "dated",
    dateField: "created_at",
    fromParameter: "uploaded_after",
    untilParameter: "uploaded_before",
    untilBound: "exclusive",
  },
  // File IDs are unique only within a source.
  key: ["source", "id"],
  table: "content",
  tableAbout: "one row per file in the library",
  dateColumn: "created_at",
  indexes: [["id"], ["created_at"]],
  fields: [
    text("id", "file ID, unique within its source"),
    text("source", "`deliverable` or `upload`"),
    text("media_type", "`image`, `video`, `audio`, `document` or `other`"),
    text("filename"),
    text("mime_type"),
    integer("file_size_bytes"),
    timestamp("created_at", "the time at which the file was added"),
    text("uploaded_by", "`host`, `brand` or `peer_brand`"),
    object("host", [text("id", "the host's user ID"), text("username"), text("name", "display name")]),
    object("opportunity", [text("id"), text("title"), text("assignment_id"), text("assignment_status")]),
    object("deliverable", [text("id"), text("title"), date("due_date")]),
    text("download_path", "API path that returns a download URL"),
  ],
} as const satisfies Resource;
