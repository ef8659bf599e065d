import { classifyError } from "../api/request-errors.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Deps, FetchOptions } from "../deps.js";
import { type ExitCode, Stopped, UsageError } from "../errors.js";
import { rejectOnAbort } from "../util/reject-on-abort.js";
import { errorReason } from "../util/system-errors.js";
import { isLoopback } from "../util/urls.js";
import { asBrandapiError } from "./error-output.js";
import { TerminalReporter } from "./progress.js";

/**
 * Parses a ping URL. The URL must use https, or http on a loopback host. It must not contain credentials, because the
 * program prints it. Returns null for any other text.
 */
function parsePingUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  return isSafe && url?.username === "" && url.password === "" ? url : null;
}

/**
 * Validates the value of `--ping`. Returns it unchanged, because `cron` prints it and `login` stores it.
 * @throws UsageError if it is not a valid ping URL
 */
export function checkPingUrl(text: string): string {
  if (parsePingUrl(text)) return text;
  throw new UsageError("The ping URL must be an HTTPS URL without a username or password.", {
    hint: "copy the complete URL from the service, such as https://hc-ping.com/UUID",
  });
}

/**
 * Notifies a monitoring service (a dead man's switch) before and after `work`. Requests `URL/start` first. Afterwards,
 * requests `URL` if `work` succeeded, or `URL/fail`, with the exit code as the body, if it failed. A failed ping
 * causes only a warning.
 * @param pingUrl the ping URL from `--ping`, `BRANDAPI_PING` or the profile; undefined to send no requests
 * @returns the exit code from `work`
 */
export async function withPings(
  pingUrl: string | undefined,
  flags: GlobalFlags,
  deps: Deps,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (!pingUrl) return await work();
  const reporter = new TerminalReporter(deps, flags);
  const url = parsePingUrl(pingUrl);
  if (!url)
    reporter.warn(
      "no ping is sent, because the ping URL is invalid: it must be an HTTPS URL without a username or password",
    );
  const ping = async (code: ExitCode | null) => {
    if (!url) return;
    await sendPing(url, code, deps).catch((error: unknown) => {
      if (error instanceof Stopped) return;
      reporter.warn(`the ping failed: ${classifyError(error, "the service")?.reason ?? errorReason(error)}`);
    });
  };
  try {
    // If a signal arrives during this ping, the service must still be notified that the run has failed.
    await deps.runGracefully(() => ping(null));
    const code = await work();
    await ping(code);
    return code;
  } catch (error) {
    await ping(asBrandapiError(error).exitCode);
    throw error;
  } finally {
    reporter.close();
  }
}

/**
 * Sends a request with a timeout of five seconds and retries it once. After a signal, there is no retry and the timeout
 * is one second.
 * @param code the exit code, or null when the run starts
 */
async function sendPing(url: URL, code: ExitCode | null, { fetch, signal }: Deps): Promise<void> {
  const address = new URL(url);
  const suffix = code === null ? "/start" : code === 0 ? "" : "/fail";
  address.pathname = address.pathname.replace(/\/*$/, suffix);
  const init: FetchOptions = code ? { method: "POST", body: String(code) } : {};
  const attempt = async () => {
    const end = signal.aborted
      ? AbortSignal.timeout(1_000)
      : AbortSignal.any([AbortSignal.timeout(5_000), signal]);
    const { status } = await rejectOnAbort(fetch(address, { ...init, signal: end }), end);
    if (status > 299) throw new Error(`HTTP ${status}`);
  };
  await attempt().catch((error: unknown) => (signal.aborted ? Promise.reject(error) : attempt()));
}
