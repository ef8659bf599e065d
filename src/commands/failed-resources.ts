import { AccessForbidden, Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { reasonOf } from "../lib/failures.js";
import { refusalIn } from "../mirror/index.js";
import type { Ended, Failure } from "../sync/resources.js";

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
  const texts = new Set(failures.map((failure) => failureText(failure, failures)));
  if (unasked.length > 0) texts.add(`Not asked any more: ${unasked.map(({ name }) => name).join(", ")}.`);
  const isRefused = failures.every(({ error }) => refusalIn(error) !== null);
  throw new Incomplete(
    `${failures.length} of ${counted(asked, "resource")} failed: ${[...texts].join(" ")}`,
    {
      hint: isRefused
        ? refusalIn(first.error)?.hint
        : "run the same command again: what succeeded is kept; see `brandapi status`",
    },
  );
}

/** Returns a sentence about a failure. Resources that were refused for the same reason share one. */
function failureText({ resource, error }: Failure, all: readonly Failure[]): string {
  const reason = refusalIn(error)?.message;
  const isSame = (one: Failure) =>
    one.error instanceof Incomplete && refusalIn(one.error)?.message === reason;
  const same = reason === undefined ? [] : all.filter(isSame).map((one) => one.resource.name);
  if (same.length > 1) return `${same.join(", ")} were read before, and are refused now: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${reasonOf(error)}`;
}
