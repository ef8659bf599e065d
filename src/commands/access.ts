import type { ApiClient, ApiEvents } from "../api/index.js";
import { readSettings, requireAccess, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import type { Reporter } from "../lib/reporter.js";
import { version } from "../version.js";
import type { GlobalOptions } from "./context.js";

/** A reporter that can also show what the API client does; see `createReporter`. */
export type AccessReporter = Reporter & {
  waiting?(ms: number, reason: string, full?: boolean): void;
  answered?(): void;
  limited?(perMinute: number | null): void;
};

/** A person sits in front of these commands: they do not wait five minutes to hear that the network is down. */
export const interactiveMaxWaitMs = 15_000;

/**
 * Reads the settings and opens the API with them, as every command does that asks it. Close `api` when done.
 * @param defaults.maxWaitMs the patience where `--max-wait` is not given
 * @throws ConfigurationError when the key or the base URL is missing or unusable
 */
export async function openAccess(
  options: GlobalOptions,
  deps: Deps,
  reporter: AccessReporter,
  defaults: { maxWaitMs?: number } = {},
): Promise<{ settings: Settings; api: ApiClient }> {
  const settings = await readSettings(options, deps, defaults);
  const api = await openApiWith({ ...settings, ...requireAccess(settings) }, deps, reporter);
  return { settings, api };
}

/** As `openAccess`, for settings already read, such as those that `login` is about to store. */
export async function openApiWith(
  settings: Settings & { baseUrl: string; key: string },
  deps: Deps,
  reporter: AccessReporter,
): Promise<ApiClient> {
  const { openApi } = await import("../api/index.js");
  reporter.limited?.(settings.rateLimit);
  const { baseUrl, key, rateLimit, maxWaitMs, stateDir } = settings;
  const userAgent = `brandapi/${version}`;
  return openApi(
    { baseUrl, key, rateLimit, maxWaitMs, userAgent, statePath: stateDir },
    deps,
    eventsFor(reporter),
  );
}

const waits = { budget: "rate limit", server: "the API asked to wait" } as const;

function eventsFor(reporter: AccessReporter): ApiEvents {
  return {
    onRetry({ path, reason, waitMs, attempt }) {
      reporter.waiting?.(waitMs, reason);
      reporter.detail(`${path}: ${reason}; retry ${attempt} in ${Math.round(waitMs)} ms`);
    },
    onWait({ ms, reason }) {
      reporter.waiting?.(ms, waits[reason], reason === "budget");
      reporter.detail(`waiting ${Math.round(ms)} ms: ${waits[reason]}`);
    },
    onRequest({ path, status, ms }) {
      reporter.answered?.();
      reporter.detail(`GET ${path}: ${status || "no answer"}, ${Math.round(ms)} ms`);
    },
    onNotice({ message }) {
      reporter.note(message);
    },
  };
}
