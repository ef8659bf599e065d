import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { checkName } from "./flags.js";

/** Texts that a sync or a view decides by: which orders can be added up, and whether a campaign can still move. */
const needed = ["id", "currency", "status", "brand_payment_state", "athlete_payment_state"];
const all = [...resources, ...details];

/**
 * Parses members with commas between them, such as `host.last_name,roster:host.socials`: the end of a path names a member
 * wherever it stands. Only texts can be omitted: a sync needs ids, dates and figures.
 * @throws UsageError for a member that no resource has, and for one that is needed
 */
export function parseOmit(list: string): string[] {
  const members = all.flatMap(tablesOf).flatMap(membersOf);
  const used = new Set(members.flatMap(({ isNeeded, names }) => (isNeeded ? names : [])));
  const free = members.flatMap(({ names }) => names.filter((name) => !used.has(name)));
  // The API document does not show the members of open resources, so any name but the id is accepted.
  const isOpen = (rule: string) => {
    const [, name, member = "id"] = /^([^:]+):([^:]+)$/.exec(rule) ?? [];
    return all.some((one) => one.open && one.name === name) && !/(^|\.)id$/.test(member);
  };
  const rules = list.match(/[^,\s]+/g) ?? [];
  const noun = "member, or a member that a sync needs";
  const otherwise = "name a member as the API does: `host.last_name`";
  return rules.map((rule) => (isOpen(rule) ? rule : checkName(noun, rule, free, otherwise)));
}

/** Returns the members that become columns, by their names: each end of the path, also with the resource before it. */
function membersOf({ columns, list, resource }: TableShape) {
  return columns.map(({ from, path, type }) => {
    const whole = [...(list?.path ?? []), ...path];
    const ends = whole.map((_, start) => whole.slice(start).join("."));
    const isUsed = needed.includes(path.at(-1) ?? "") || resource.key.includes(whole.join("."));
    const isNeeded = isUsed || from !== "record" || !["text", "json"].includes(type);
    return { isNeeded, names: [...ends, ...ends.map((end) => `${resource.name}:${end}`)] };
  });
}
