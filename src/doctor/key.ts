import { dayMs, parseTimestamp } from "../lib/times.js";
import { Advice, type Check, ok } from "./check.js";

const warnWithinMs = 14 * dayMs;

/** Whether the key works, and for how long. The key itself is never shown. */
export const key: Check = {
  name: "key",
  async *run({ clockOffset, deps, me }) {
    const { key } = await me();
    const expires = parseTimestamp(key.expires_at ?? "");
    if (expires === undefined) {
      yield ok("it works; the API does not say how long");
      return;
    }
    // By the API's clock: it is the API that will refuse it.
    const left = expires - (deps.clock.now() + (clockOffset() ?? 0));
    const days = Math.floor(left / dayMs);
    const inWords = `${days} ${days === 1 ? "day" : "days"} left, until ${key.expires_at}`;
    if (left < warnWithinMs)
      throw new Advice(`The key expires soon: ${inWords}.`, {
        hint: "create a new one in the brand's console (settings, integrations, brand API), then run `brandapi login`",
      });
    yield ok(`it works: ${inWords}`);
  },
};
