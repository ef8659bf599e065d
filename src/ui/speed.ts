/** How fast an amount grows, over the last while: recent enough to follow a change, long enough to be calm. */
export interface Speed {
  update(amount: number, now: number): void;
  /** Units a second; undefined while there is nothing to judge by. */
  perSecond(now: number): number | undefined;
}

const overMs = 30_000;
const everyMs = 250;

/** `now` in milliseconds of a clock that never jumps. */
export function createSpeed(): Speed {
  let samples: { at: number; amount: number }[] = [];
  let latest = 0;
  return {
    update(amount, now) {
      latest = amount;
      const newest = samples.at(-1);
      if (newest && now - newest.at < everyMs) return;
      samples.push({ at: now, amount });
      if (samples.length > (2 * overMs) / everyMs) samples = samples.filter(({ at }) => now - at <= overMs);
    },
    perSecond(now) {
      const oldest = samples.find(({ at }) => now - at <= overMs) ?? samples.at(-1);
      if (!oldest || now <= oldest.at || latest <= oldest.amount) return undefined;
      return ((latest - oldest.amount) / (now - oldest.at)) * 1_000;
    },
  };
}
