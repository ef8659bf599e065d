import type { ApiClient, ApiEvents } from "../api/index.js";
import { requireAccess } from "../config/access.js";
import type { Settings } from "../config/settings.js";
import { type Deps, readVersion } from "../deps.js";
import type { Reporter } from "../lib/reporter.js";
import type { TerminalReporter } from "../ui/reporter.js";

/** A reporter that may also show what the API client does. */
type ApiReporter = Reporter & Partial<Pick<TerminalReporter, "waiting" | "answered" | "limited">>;

/** The patience of commands that a person waits for, in milliseconds. */
export const interactiveMaxWaitMs = 15_000;

/**
 * Opens the API as these settings say. Close it when done.
 * @throws ConfigurationError if the base URL or the key is missing
 */
export async function openApi(settings: Settings, deps: Deps, reporter: ApiReporter): Promise<ApiClient> {
  const access = { ...settings, ...requireAccess(settings) };
  const api = await import("../api/index.js");
  reporter.limited?.(settings.rateLimit);
  return api.openApi(
    { ...access, userAgent: `brandapi/${readVersion()}`, statePath: settings.stateDir },
    deps,
    eventsFor(reporter),
  );
}

const waits = { budget: "rate limit", server: "the API asked to wait" } as const;

function eventsFor(reporter: ApiReporter): ApiEvents {
  return {
    onRetry({ path, reason, waitMs, attempt }) {
      reporter.waiting?.(waitMs, reason);
      reporter.detail(`${path}: ${reason}; retry ${attempt} in ${Math.round(waitMs)} ms`);
    },
    onWait({ ms, reason }) {
      reporter.waiting?.(ms, waits[reason]);
      reporter.detail(`waiting ${Math.round(ms)} ms: ${waits[reason]}`);
    },
    onRequest({ path, status, ms }) {
      reporter.answered?.();
      reporter.detail(`GET ${path}: ${status || "no answer"}, ${Math.round(ms)} ms`);
    },
    onNotice: ({ message }) => reporter.note(message),
  };
}
