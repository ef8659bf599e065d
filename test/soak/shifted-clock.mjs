// Loaded before the program: its clock shows another day, and who sleeps long has slept at once.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const now = Date.now;
const hrtime = process.hrtime.bigint;
const sleep = timers.setTimeout;
let slept = 0;

Date.now = () => now() + shiftMs + slept;
process.hrtime.bigint = () => hrtime() + BigInt(slept) * 1_000_000n;
timers.setTimeout = (ms, ...rest) => {
  if (ms < 200) return sleep(ms, ...rest);
  slept += Math.ceil(ms);
  return sleep(1, ...rest);
};
syncBuiltinESMExports();
