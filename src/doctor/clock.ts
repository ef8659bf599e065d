import { ConfigurationError } from "../errors.js";
import { formatSpan } from "../lib/times.js";
import { Advice, type Check, ok } from "./check.js";

/** Milliseconds. A date in a header has whole seconds, and the answer took its time. */
const mostOff = 120_000;

/** This machine's clock against the API's: what is read, and until when, goes by it. */
export const clock: Check = {
  name: "clock",
  async *run({ clockOffset, deps, me }) {
    // A refusal has a date as well.
    await me().catch(() => {});
    const offset = clockOffset();
    if (offset === null) {
      await me();
      throw new Advice("The API's answers have no date to compare this machine's clock with.", {
        hint: "compare it with another clock: `date -u`",
      });
    }
    const off = formatSpan(Math.abs(offset));
    if (Math.abs(offset) > mostOff)
      throw new ConfigurationError(
        `This machine's clock is ${off} ${offset > 0 ? "behind" : "ahead of"} the API's.`,
        { hint: mendClock[deps.platform] ?? "set it by a time server" },
      );
    yield ok(`it agrees with the API's (${off} apart)`);
  },
};

const mendClock: Partial<Record<NodeJS.Platform, string>> = {
  linux: "run `sudo timedatectl set-ntp true`",
  darwin: "run `sudo sntp -sS time.apple.com`",
  win32: "run `w32tm /resync`",
};
