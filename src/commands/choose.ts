import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import { findResource, resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";

/** The resources named on the command line, in the registry's order; all of them where none is named. */
export function chooseResources(names: readonly string[]): {
  resources: readonly Resource[];
  named: boolean;
} {
  if (names.length === 0) return { resources, named: false };
  const chosen = new Set(
    names.map((name) => {
      const resource = findResource(name);
      if (resource) return resource;
      const all = resources.map((known) => known.name);
      const close = nearest(name, all);
      if (name.split(",").every((part) => findResource(part)))
        throw new UsageError(`Not one resource: \`${name}\`.`, {
          hint: `put blanks between the names: \`${name.replaceAll(",", " ")}\``,
        });
      throw new UsageError(`Unknown resource: \`${name}\`.`, {
        hint: close ? `did you mean \`${close}\`?` : `the resources are ${all.join(", ")}`,
      });
    }),
  );
  return { resources: resources.filter((resource) => chosen.has(resource)), named: true };
}
