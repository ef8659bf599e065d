import { writeSync } from "node:fs";
import { Stopped, stopCodes } from "./errors.js";
import { removeParts } from "./lib/parts.js";
import { cursorBack } from "./ui/cursor.js";

type SignalName = keyof typeof stopCodes;

const names = Object.keys(stopCodes) as SignalName[];
/** A signal ends any command within two seconds (contract, section 5): a clean stop that takes longer is cut short. */
const cleanStopMs = 1_500;

/**
 * The first signal asks for a clean stop; when that takes too long, and at a second signal, the process ends at once.
 * @param stop aborted with `Stopped` at the first one
 * @param late what is still to be said when the clean stop took too long
 * @returns runs some work during which signals are not heard, and end the process at once: see `Deps.mortally`
 */
export function listenForSignals(
  stop: AbortController,
  late: (reason: Stopped) => void,
): <T>(work: () => Promise<T>) => Promise<T> {
  let first: Stopped | undefined;
  const hear = (name: SignalName) => {
    // A terminal that is closed says so more than once.
    if (first && name === "SIGHUP") return;
    if (first) exitNow(stopCodes[name]);
    first = new Stopped(name);
    setTimeout(cutShort, cleanStopMs, first);
    stop.abort(first);
  };
  const cutShort = (reason: Stopped) => {
    late(reason);
    exitNow(reason.exitCode);
  };
  const listen = () => {
    for (const name of names) process.on(name, hear);
  };
  listen();
  return async (work) => {
    stopListening();
    try {
      return await work();
    } finally {
      listen();
    }
  };
}

/** From now on a signal does what the system does with it. */
function stopListening(): void {
  for (const name of names) process.removeAllListeners(name);
}

/** Whether the system holds up a thread of this process: a name that is not resolved, a file that does not open. */
export function isHeldUp(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(name));
}

/** Ends at once: nothing is waited for, and what is unfinished is removed. */
export function exitNow(code: number): never {
  removeParts();
  giveCursorBack();
  // Node waits for threads that the system holds up, and hears nothing meanwhile. Only the signal itself does not wait;
  // a shell shows it as the same number.
  stopListening();
  const name = names.find((one) => stopCodes[one] === code);
  if (name && isHeldUp()) process.kill(process.pid, name);
  process.exit(code);
}

function giveCursorBack(): void {
  const sequence = cursorBack();
  if (sequence === "") return;
  try {
    writeSync(process.stderr.fd, sequence);
  } catch {
    // The terminal is gone.
  }
}
