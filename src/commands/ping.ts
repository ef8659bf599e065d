import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { asBrandapiError } from "../lib/failures.js";
import { isLoopback } from "../lib/loopback.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";

/** Milliseconds for one try; after a signal there is one try, and as long as a clean stop has. */
const patienceMs = 5_000;
const lastPatienceMs = 1_000;

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
  const { hostname, password, protocol, username } = new URL(text);
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
  const { deps } = context;
  const reporter = createReporter(deps, options);
  const send = async (step: string, body?: string) => {
    const failure = isPingUrl(url) ? await trySend(url, step, body, deps) : "it is not an https address";
    if (failure !== null) reporter.warn(`the ping was not heard: ${failure}`);
  };
  const before = context.exitCode;
  await send("/start");
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) await send("/fail", String(asBrandapiError(error).exitCode));
    throw error;
  }
  if (context.exitCode === before) await send("");
  else await send("/fail", String(context.exitCode));
}

/** @returns what went wrong; null if the service heard it */
async function trySend(
  url: string,
  step: string,
  body: string | undefined,
  deps: Deps,
): Promise<string | null> {
  const address = new URL(url);
  address.pathname = address.pathname.replace(/\/+$/, "") + step;
  let failure: string | null = null;
  for (let left = deps.signal.aborted ? 1 : 2; left > 0; left -= deps.signal.aborted ? 2 : 1) {
    failure = await request(address, body, deps);
    if (failure === null) return null;
  }
  return failure;
}

async function request(address: URL, body: string | undefined, { fetch, later, signal }: Deps) {
  const deadline = new AbortController();
  const callOff = later?.(signal.aborted ? lastPatienceMs : patienceMs, () => deadline.abort());
  try {
    const init = body === undefined ? {} : { method: "POST", body };
    const answer = await fetch(address, { ...init, redirect: "manual", signal: deadline.signal });
    await answer.body?.cancel();
    return answer.ok ? null : `${address.host} answered ${answer.status}`;
  } catch {
    return `${address.host} did not answer`;
  } finally {
    callOff?.();
  }
}

/**
 * Returns the address that the environment or the profile names.
 * @throws UsageError for a mistyped profile; any other error is the run's own, and comes again
 */
export async function storedPing(options: GlobalOptions, deps: Deps): Promise<string | undefined> {
  const { readSettings } = await import("../config/settings.js");
  try {
    return (await readSettings(options, deps)).ping;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return deps.env.BRANDAPI_PING;
  }
}
