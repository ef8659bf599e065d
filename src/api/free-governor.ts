import type { Clock } from "../deps.js";
import { held } from "./giving-up.js";
import type { Governor, GovernorEvents, Permit } from "./governing.js";

/** No budget of our own; what the server tells is still obeyed, within this process. */
export function freeGovernor(clock: Clock, events: GovernorEvents): Governor {
  let heldUntil = Number.NEGATIVE_INFINITY;
  const hold = (ms: number) => {
    heldUntil = Math.max(heldUntil, clock.monotonic() + ms);
  };
  const permit: Permit = {
    answered(limit) {
      if (limit?.remaining === 0 && limit.resetMs !== null) hold(Math.min(limit.resetMs, 60_000));
    },
  };
  return {
    file: null,
    async take(signal, { serverMs = Number.POSITIVE_INFINITY, inAllMs = Number.POSITIVE_INFINITY } = {}) {
      signal.throwIfAborted();
      const begun = clock.monotonic();
      for (let ms = heldUntil - clock.monotonic(); ms > 0; ms = heldUntil - clock.monotonic()) {
        const leftMs = begun + serverMs - clock.monotonic();
        if (ms > leftMs || heldUntil > begun + inAllMs) throw held({ ms, now: clock.now(), file: null });
        events.onWait?.({ ms, reason: "server" });
        await clock.sleep(ms, signal);
      }
      return permit;
    },
    hold,
    fullForMs: () => null,
    close() {},
  };
}
