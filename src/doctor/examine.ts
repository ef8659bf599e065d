import { asBrandapiError } from "../lib/failures.js";
import { type Check, type Examined, type Finding, found, unchecked } from "./check.js";

/** A finding, and the check that it is of: a line of `doctor --json`. */
export type Line = { check: string } & Finding;

/** Runs the checks, one after another. An error ends the check that meets it, and no other. */
export async function* examine(checks: readonly Check[], examined: Examined): AsyncIterable<Line> {
  /** What was told, and by which check: those that meet the same error point there. */
  const told = new Map<string, string>();
  for (const { name, run } of checks) {
    try {
      for await (const finding of run(examined)) yield { check: name, ...finding };
    } catch (error) {
      examined.deps.signal.throwIfAborted();
      const known = asBrandapiError(error);
      const first = told.get(known.message);
      if (first === undefined) told.set(known.message, name);
      yield {
        check: name,
        ...(first === undefined ? found(known) : unchecked(`not checked: see \`${first}\``)),
      };
    }
  }
}
