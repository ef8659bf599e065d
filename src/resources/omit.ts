import { UsageError } from "../errors.js";
import { nearest, suggest } from "../lib/nearest.js";
import { details, resources } from "./index.js";
import type { Field, Resource } from "./types.js";

/**
 * Returns the members that a list names, such as `host.last_name,roster:host.socials`: the end of a path names it
 * wherever it stands. An empty list names none.
 * @throws UsageError for a path that no resource has, and for one that a record is known by
 */
export function parseOmit(text: string): string[] {
  const rules = text.split(",").map((rule) => rule.trim());
  return [...new Set(rules.filter((rule) => rule !== "").map(checked))];
}

function checked(rule: string): string {
  const [first = "", ...rest] = rule.split(":");
  const path = rest.length === 0 ? first : rest.join(":");
  const all = [...resources, ...details];
  const chosen = rest.length === 0 ? all : all.filter(({ name }) => name === first.replaceAll("_", "-"));
  if (chosen.length === 0)
    throw new UsageError(`Unknown resource: \`${first}\`.`, {
      hint: suggest(
        first,
        all.map(({ name }) => name),
      ),
    });
  const paths = chosen.flatMap(({ fields }) => pathsOf(fields, ""));
  const isOpen = rest.length > 0 && path !== "" && chosen.some(({ open }) => open);
  if (!isOpen && !paths.some((one) => one.endsWith(`.${path}`))) {
    const ends = new Set(paths.flatMap(endsOf));
    const near = nearest(path, ends);
    const prefix = rest.length === 0 ? "" : `${first}:`;
    throw new UsageError(`No resource has the member \`${rule}\`.`, {
      hint: near
        ? `did you mean \`${prefix}${near}\`?`
        : "name a member as the API does, such as `host.last_name`",
    });
  }
  const owner = chosen.find((one) => isNeeded(one, path));
  if (owner || /(^|\.)host\.id$/.test(path))
    throw new UsageError(`\`${rule}\` cannot be omitted: ${owner?.name ?? "a host"} is known by it.`, {
      hint: "name the members that are to go one by one, or `RESOURCE:MEMBER` for one resource",
    });
  return rest.length === 0 ? path : `${chosen[0]?.name}:${path}`;
}

/** Returns all paths of a record's members, each with a dot before it. */
function pathsOf(fields: readonly Field[], above: string): string[] {
  return fields
    .filter((field) => field.kind !== "scalar" || field.from === "record")
    .flatMap((field) => {
      const path = `${above}.${field.name}`;
      return field.kind === "scalar" ? [path] : [path, ...pathsOf(field.fields, path)];
    });
}

/** Returns `.a.b.c` as `a.b.c`, `b.c` and `c`. */
function endsOf(path: string): string[] {
  const members = path.slice(1).split(".");
  return members.map((_, index) => members.slice(index).join("."));
}

/** True if a sync could not tell the resource's records apart, or see that they changed, without a member. */
function isNeeded({ key, strategy }: Resource, path: string): boolean {
  const needed = [...key];
  if (strategy.kind === "dated") {
    needed.push(strategy.date, ...(strategy.counts ?? []).map(({ member }) => member));
  } else if (strategy.kind === "monthly") {
    const { day, figures, points } = strategy.figures;
    needed.push(...[day, ...figures].map((member) => `${points}.${member}`));
  }
  return needed.some((one) =>
    one
      .split(".")
      .some((_, index, members) => `.${members.slice(0, index + 1).join(".")}`.endsWith(`.${path}`)),
  );
}
