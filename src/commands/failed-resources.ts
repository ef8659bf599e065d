import { AccessForbidden, Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { wordsOf } from "../lib/failures.js";
import { refusalIn } from "../mirror/index.js";
import type { Ended } from "../sync/resources.js";

/**
 * Refuses a sync that lacks a resource.
 * @param asked the number of resources that were to be synced
 * @throws if none succeeded the first error, or AccessForbidden without one; Incomplete if some succeeded
 */
export function refuseFailures({ failures, succeeded, unasked }: Ended, asked: number): void {
  if (failures.length === 0 && succeeded > 0) return;
  const [first] = failures;
  if (!first)
    throw new AccessForbidden("Neither the key nor the plan allows any of it: nothing was read.", {
      hint: "see `brandapi whoami` for the key's scopes, and the brand's plan",
    });
  if (succeeded === 0) throw first.error;
  const texts = failures.map(({ resource, error }) =>
    error instanceof Incomplete ? error.message : `${resource.name}: ${wordsOf(error)}`,
  );
  if (unasked.length > 0) texts.push(`Not asked any more: ${unasked.map(({ name }) => name).join(", ")}.`);
  const isRefused = failures.every(({ error }) => refusalIn(error) !== null);
  throw new Incomplete(`${failures.length} of ${counted(asked, "resource")} failed: ${texts.join(" ")}`, {
    hint: isRefused
      ? refusalIn(first.error)?.hint
      : "run the same command again: what succeeded is kept; see `brandapi status`",
  });
}
