import { UsageError } from "../errors.js";
import { suggest } from "../lib/nearest.js";
import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";

/** Texts that a sync or a view decides by: which orders can be added up, and whether a campaign can still move. */
const needed = ["id", "currency", "status", "brand_payment_state", "athlete_payment_state"];

/**
 * Parses members with commas between them, such as `host.last_name,roster:host.socials`: the end of a path names a member
 * wherever it stands. Only texts can be omitted: a sync needs ids, dates and figures.
 * @throws UsageError for a member that no resource has, and for one that is needed
 */
export function parseOmit(list: string): string[] {
  return (list.match(/[^,\s]+/g) ?? []).map(checked);
}

function checked(rule: string): string {
  const all = [...resources, ...details];
  const members = all.flatMap(tablesOf).flatMap(membersOf);
  // The API document does not show the members of open resources, so any other name is taken.
  const [, name, member] = /^([^:]+):([^:]+)$/.exec(rule) ?? [];
  const isOpen = all.some((one) => one.open && one.name === name);
  const used = members.find((one) => one.isNeeded && one.names.includes(rule));
  if (used || (isOpen && /(^|\.)id$/.test(member ?? "")))
    throw new UsageError(`\`${rule}\` cannot be omitted: a sync needs it of ${used?.owner ?? name}.`, {
      hint: "name other members, or `RESOURCE:MEMBER` for one resource",
    });
  const free = members.flatMap((one) => (one.isNeeded ? [] : one.names));
  if (isOpen || free.includes(rule)) return rule;
  throw new UsageError(`Unknown member: \`${rule}\`.`, {
    hint: suggest(rule, free) ?? "name it as the API does: `host.last_name`",
  });
}

/** Returns the members that become columns, by their names: each end of the path, also with the resource before it. */
function membersOf({ columns, list, resource }: TableShape) {
  return columns.map(({ from, path, type }) => {
    const whole = [...(list?.path ?? []), ...path];
    const ends = whole.map((_, start) => whole.slice(start).join("."));
    const isUsed = needed.includes(path.at(-1) ?? "") || resource.key.includes(whole.join("."));
    const isNeeded = isUsed || from !== "record" || !["text", "json"].includes(type);
    const owner = resource.name;
    return { isNeeded, owner, names: [...ends, ...ends.map((end) => `${owner}:${end}`)] };
  });
}
