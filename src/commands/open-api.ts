import type { ApiClient } from "../api/index.js";
import { requireAccess } from "../config/access.js";
import type { Settings } from "../config/settings.js";
import { type Deps, readVersion } from "../deps.js";
import type { TerminalReporter } from "../ui/reporter.js";

/**
 * Opens the API as these settings say. Close it when done.
 * @throws ConfigurationError if the base URL or the key is missing
 */
export async function openApi(
  settings: Settings,
  deps: Deps,
  reporter: TerminalReporter,
): Promise<ApiClient> {
  const access = { ...settings, ...requireAccess(settings) };
  const api = await import("../api/index.js");
  const waits = {
    budget: `rate limit of ${settings.rateLimit} requests a minute`,
    server: "the API asked to wait",
  } as const;
  reporter.limited(settings.rateLimit);
  const options = { ...access, userAgent: `brandapi/${readVersion()}`, statePath: settings.stateDir };
  return api.openApi(options, deps, {
    onRetry({ path, reason, waitMs, attempt }) {
      reporter.waiting(waitMs, reason);
      reporter.detail(`${path}: ${reason}; retry ${attempt} in ${Math.round(waitMs)} ms`);
    },
    onWait({ ms, reason }) {
      reporter.waiting(ms, waits[reason]);
      reporter.detail(`waiting ${Math.round(ms)} ms: ${waits[reason]}`);
    },
    onRequest({ path, status, ms }) {
      reporter.answered();
      reporter.detail(`GET ${path}: ${status || "no answer"}, ${Math.round(ms)} ms`);
    },
    onNotice: ({ message }) => reporter.note(message),
  });
}
