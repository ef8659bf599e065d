import type { Deps } from "../deps.js";
import { type ExitCode, UsageError } from "../errors.js";
import { asBrandapiError } from "../lib/failures.js";
import { isLoopback } from "../lib/loopback.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";

/** Milliseconds of a try, and how many there are. After a signal there is one, as long as a clean stop may take. */
const patienceMs = 5_000;
const lastPatienceMs = 1_000;
const tries = 2;

/** `--ping`, for commands that write it down or send it. */
export function ping(about: string) {
  return parsed("--ping <url>", about, parsePing);
}

/** @throws UsageError if it is not https, or http on loopback */
export function parsePing(text: string): string {
  if (isPingUrl(text)) return text;
  throw new UsageError("The ping URL is not an https address.", {
    hint: "copy the whole address from the service, such as https://hc-ping.com/UUID",
  });
}

function isPingUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, protocol, username, password } = new URL(text);
  if (username || password) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/**
 * Does work between two requests to a dead-man's switch: `URL/start`, then `URL`, or `URL/fail` with the exit code as
 * body. A ping that fails is a warning. A usage error sends no second ping.
 * @param url undefined: nothing is sent
 */
export async function withPings(
  url: string | undefined,
  options: GlobalOptions,
  context: Context,
  work: () => Promise<void>,
): Promise<void> {
  if (!url) return await work();
  const { deps, exitCode: before } = context;
  const { warn } = createReporter(deps, options);
  const send = async (step: string, code?: ExitCode) => {
    const failure = isPingUrl(url) ? await request(url, step, code, deps) : "it is not an https address";
    if (failure !== null) warn(`the ping was not heard: ${failure}`);
  };
  await send("/start");
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) await send("/fail", asBrandapiError(error).exitCode);
    throw error;
  }
  if (context.exitCode === before) await send("");
  else await send("/fail", context.exitCode);
}

/** @returns the failure; null if the service heard it */
async function request(url: string, step: string, code: ExitCode | undefined, deps: Deps) {
  const { fetch, later, signal } = deps;
  const address = new URL(url);
  address.pathname = address.pathname.replace(/\/+$/, "") + step;
  const init: RequestInit = { redirect: "manual", ...(code && { method: "POST", body: String(code) }) };
  const isLast = signal.aborted;
  let failure: string | null = null;
  for (let left = isLast ? 1 : tries; left > 0 && signal.aborted === isLast; left -= 1) {
    const deadline = new AbortController();
    const callOff = later?.(isLast ? lastPatienceMs : patienceMs, () => deadline.abort());
    const ends = isLast ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    try {
      const { body, ok, status } = await fetch(address, { ...init, signal: ends });
      await body?.cancel();
      if (ok) return null;
      failure = `${address.host} answered ${status}`;
    } catch {
      failure = `${address.host} did not answer`;
    } finally {
      callOff?.();
    }
  }
  return failure;
}
