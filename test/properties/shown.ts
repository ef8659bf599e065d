import { shownDate } from "../../src/sandbox/dated.js";
import type { Doubts } from "../../src/sandbox/index.js";
import { dateMember, type Fields, type Watched } from "./brand.js";

/** Returns a record in the form in which the API's list shows it. */
export function shownForm(watched: Watched, record: Fields, shows: Doubts["shows"]): Fields {
  const { deliverables, assignments, ...listed } = record;
  if (watched === "opportunities") return listed;
  const member = dateMember(watched);
  const date = member === null ? null : record[member];
  if (member === null || typeof date !== "string") return record;
  return { ...record, [member]: shownDate(date, shows) };
}
