import { ApiUnavailable, type BrandapiError, Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Ended } from "../sync/resources.js";

/** What a command says of resources that failed, and of those that it did not come to. */
export interface Words {
  failed: string;
  left: string;
  hint: string;
}

/**
 * The error that a run of several resources ends with; undefined where nothing failed.
 * @param asked how many resources there were
 */
export function failureOf(ended: Ended, asked: number, words: Words): unknown {
  const { failures, succeeded, unasked } = ended;
  const [first] = failures;
  if (first === undefined) return undefined;
  const outage = failures.map(({ error }) => error).find((error) => error instanceof ApiUnavailable);
  if (outage && unasked.length > 0) return outageOf(outage, ended, words);
  // Where nothing succeeded, what happened says more than that it is incomplete.
  if (succeeded === 0) return first.error;
  const told = failures.map(toldOf).join(" ");
  return new Incomplete(`${failures.length} of ${counted(asked, "resource")} ${words.failed}: ${told}`, {
    hint: words.hint,
  });
}

/** The API stopped answering: what it said at first, what is left undone because of that, and what else failed. */
function outageOf({ message, hint }: ApiUnavailable, ended: Ended, words: Words): BrandapiError {
  const { failures, succeeded, unasked } = ended;
  const isSilent = ({ error }: Failure) => error instanceof ApiUnavailable;
  const left = [...failures.filter(isSilent).map(({ resource }) => resource), ...unasked];
  const others = failures.filter((failure) => !isSilent(failure)).map(toldOf);
  const text = [message, `${words.left}: ${left.map(({ name }) => name).join(", ")}.`, ...others].join(" ");
  return succeeded === 0 ? new ApiUnavailable(text, { hint }) : new Incomplete(text, { hint });
}

type Failure = Ended["failures"][number];

/** What happened, with the resource's name where the message has none. */
function toldOf({ resource, error }: Failure): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Incomplete ? message : `${resource.name}: ${message}`;
}
