import { UsageError } from "../errors.js";
import { nearest, suggest } from "../lib/nearest.js";
import { details, resources } from "./index.js";
import { tablesOf } from "./shape.js";
import type { Resource } from "./types.js";

/**
 * Returns the members that a list names, such as `host.last_name,roster:host.socials`: the end of a path names it
 * wherever it stands. Only texts can be omitted: a sync needs ids, dates and figures. An empty list names none.
 * @throws UsageError for a member that no resource has, and for one that is needed
 */
export function parseOmit(list: string): string[] {
  const rules = list.split(",").map((rule) => rule.trim());
  return [...new Set(rules.filter((rule) => rule !== "").map(checked))];
}

function checked(rule: string): string {
  const [path = "", owner] = rule.split(":").reverse();
  const all = [...resources, ...details];
  const chosen = owner === undefined ? all : all.filter(({ name }) => name === owner.replaceAll("_", "-"));
  const names = all.map(({ name }) => name);
  if (owner !== undefined && chosen.length === 0)
    throw new UsageError(`Unknown resource: \`${owner}\`.`, { hint: suggest(owner, names) });
  const members = chosen.flatMap(membersOf);
  const named = members.filter((member) => `.${member.path}.`.includes(`.${path}.`));
  // The API document does not show the members of these resources, so any name is taken.
  if (named.length === 0 && !(owner !== undefined && path !== "" && chosen[0]?.open)) {
    const near = nearest(path, new Set(members.flatMap((member) => [member.path, member.last])));
    throw new UsageError(`No resource has the member \`${rule}\`.`, {
      hint: near
        ? `did you mean \`${rule.replace(path, near)}\`?`
        : "name it as the API does: `host.last_name`",
    });
  }
  const needed = named.find(({ isNeeded }) => isNeeded);
  if (needed)
    throw new UsageError(
      `\`${rule}\` cannot be omitted: a sync needs \`${needed.path}\` of ${needed.table}.`,
      {
        hint: "name the members that are to go one by one, or `RESOURCE:MEMBER` for one resource",
      },
    );
  return owner === undefined ? path : `${chosen[0]?.name}:${path}`;
}

/** Returns the members of a resource's records that become columns. */
function membersOf(resource: Resource) {
  return tablesOf(resource).flatMap(({ columns, list, name: table }) =>
    columns
      .filter(({ from }) => from === "record")
      .map((column) => {
        const path = [...(list?.path ?? []), ...column.path].join(".");
        const isId = resource.key.includes(path) || path.endsWith("host.id");
        const isNeeded = isId || !["text", "json"].includes(column.type);
        return { path, last: column.path.at(-1) ?? path, table, isNeeded };
      }),
  );
}
