import { expect } from "vitest";
import type { ProcessResult, RunningProgram } from "./process.js";

/** A signal ends any command within two seconds; a busy machine is given some more. */
const mostMs = 5_000;

/** Sends a signal, and expects the program to end in time. Whatever it does, it is gone afterwards. */
export async function stop(
  { child, ended, output }: RunningProgram,
  signal: NodeJS.Signals,
): Promise<ProcessResult> {
  child.kill(signal);
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, mostMs);
  const result = await ended;
  clearTimeout(late);
  expect(isLate, `still running after ${mostMs} ms: ${output().err}`).toBe(false);
  return result;
}

/** Nothing is seen of work that says nothing: it is given time to begin. */
export async function begin(ms = 800): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
