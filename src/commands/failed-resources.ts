import { Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Ended } from "../sync/resources.js";

/**
 * @param asked how many resources there were
 * @throws the first error if nothing succeeded, Incomplete if only a part did
 */
export function refuseFailures({ failures, succeeded, unasked }: Ended, asked: number): void {
  const [first] = failures;
  if (first === undefined) return;
  if (succeeded === 0) throw first.error;
  const texts = failures.map(textOf);
  if (unasked.length > 0) texts.push(`Not asked any more: ${unasked.map(({ name }) => name).join(", ")}.`);
  throw new Incomplete(`${failures.length} of ${counted(asked, "resource")} failed: ${texts.join(" ")}`, {
    hint: "run the same command again: what succeeded is kept; see `brandapi status`",
  });
}

/** Returns the error's message, with the resource's name if the message has none. */
function textOf({ resource, error }: Ended["failures"][number]): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Incomplete ? message : `${resource.name}: ${message}`;
}
