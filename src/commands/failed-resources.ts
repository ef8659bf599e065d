import { ApiUnavailable, Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Ended } from "../sync/resources.js";

/** How a command calls what failed and what it did not come to. */
export interface Words {
  failed: string;
  left: string;
  hint: string;
}

/**
 * Returns the error that a run of several resources ends with; undefined if nothing failed.
 * @param asked how many resources there were
 */
export function failureOf(ended: Ended, asked: number, words: Words): unknown {
  const { failures, succeeded, unasked } = ended;
  const last = failures.at(-1);
  if (last === undefined) return undefined;
  if (unasked.length > 0 && last.error instanceof ApiUnavailable) {
    const { message, hint } = last.error;
    const left = [last.resource, ...unasked].map(({ name }) => name).join(", ");
    const text = [message, `${words.left}: ${left}.`, ...failures.slice(0, -1).map(textOf)].join(" ");
    return succeeded === 0 ? new ApiUnavailable(text, { hint }) : new Incomplete(text, { hint });
  }
  // If nothing succeeded, the first error says more than its being incomplete.
  if (succeeded === 0) return failures[0]?.error;
  const texts = failures.map(textOf).join(" ");
  return new Incomplete(`${failures.length} of ${counted(asked, "resource")} ${words.failed}: ${texts}`, {
    hint: words.hint,
  });
}

/** Returns the error's message, with the resource's name if the message has none. */
function textOf({ resource, error }: Ended["failures"][number]): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Incomplete ? message : `${resource.name}: ${message}`;
}
