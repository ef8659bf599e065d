import { UsageError } from "../errors.js";
import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { checkName } from "./flags.js";

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
  const needed = members.find(({ isNeeded, names }) => isNeeded && names.includes(rule));
  if (needed) throw new UsageError(`\`${rule}\` cannot be omitted: a sync needs \`${needed.names[0]}\`.`);
  // The API document does not show the members of open resources, so any name is taken.
  if (all.some(({ name, open }) => open && rule.startsWith(`${name}:`))) return rule;
  const names = members.flatMap(({ isNeeded, names }) => (isNeeded ? [] : names));
  return checkName("member", rule, names);
}

/** Returns the members that become columns, by their names: each end of the path, also with the resource before it. */
function membersOf({ columns, list, resource }: TableShape) {
  return columns.map(({ from, path, type }) => {
    const whole = [...(list?.path ?? []), ...path];
    const ends = whole.map((_, start) => whole.slice(start).join("."));
    const isKey = path.at(-1) === "id" || resource.key.includes(whole.join("."));
    const isNeeded = isKey || from !== "record" || !["text", "json"].includes(type);
    return { isNeeded, names: [...ends, ...ends.map((end) => `${resource.name}:${end}`)] };
  });
}
