import type { Deps } from "../deps.js";
import { type ExitCode, exitCodes, UsageError } from "../errors.js";
import { asBrandapiError, codeOf, wordsOf } from "../lib/failures.js";
import { isLoopback } from "../lib/loopback.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";

/** @throws UsageError if it is not https, or http on loopback, or holds a user or password, which would be printed */
export function parsePing(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (isSafe && url?.username === "" && url.password === "") return text;
  throw new UsageError("The ping URL is not an https address without user and password.", {
    hint: "copy the whole address from the service, such as https://hc-ping.com/UUID",
  });
}

/**
 * Does work between two requests to a dead-man's switch: `URL/start`, then `URL`, or `URL/fail` with the exit code as
 * body. A ping that fails is a warning.
 */
export async function withPings(
  url: string | undefined,
  options: GlobalOptions,
  context: Context,
  work: () => Promise<void>,
): Promise<void> {
  if (!url) return await work();
  const { warn } = createReporter(context.deps, options);
  const ping = (step: string, code?: ExitCode) =>
    send(url, step, code, context.deps).catch((error: unknown) =>
      warn(`the ping was not heard: ${wordsOf(error)}`),
    );
  await ping("/start");
  try {
    await work();
  } catch (error) {
    await ping("/fail", asBrandapiError(error).exitCode);
    throw error;
  }
  if (context.exitCode === exitCodes.done) await ping("");
  else await ping("/fail", context.exitCode);
}

/** Sends one request, and tries a second time if it fails: five seconds each. After a signal there is one try of one second. */
async function send(url: string, step: string, code: ExitCode | undefined, { fetch, signal }: Deps) {
  const address = new URL(parsePing(url));
  address.pathname = address.pathname.replace(/\/*$/, step);
  const init: RequestInit = { redirect: "manual", ...(code && { method: "POST", body: String(code) }) };
  for (const isLast of signal.aborted ? [true] : [false, true])
    try {
      const deadline = AbortSignal.timeout(signal.aborted ? 1_000 : 5_000);
      const ends = signal.aborted ? deadline : AbortSignal.any([deadline, signal]);
      const { body, ok, status } = await fetch(address, { ...init, signal: ends }).catch((cause: unknown) => {
        throw new Error(`${address.host}: ${rootWords(cause)}`, { cause });
      });
      await body?.cancel();
      if (ok) return;
      throw new Error(`${address.host} answered ${status}`);
    } catch (error) {
      if (isLast || signal.aborted) throw error;
    }
}

/** Returns the system's words: `fetch` wraps them. */
function rootWords(error: unknown): string {
  if (error instanceof Error && error.cause !== undefined) return rootWords(error.cause);
  return wordsOf(error) || codeOf(error);
}
