import type { ApiClient } from "../api/client.js";
import { platformFolder } from "../config/folders.js";
import { requireCredentials } from "../config/missing-credentials.js";
import type { GlobalFlags, Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UnexpectedResponse } from "../errors.js";
import { pluralize } from "../util/format-text.js";
import { asObject, type Json } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import { createStyle, escapeText, printJson } from "../util/terminal.js";
import { dayMs, formatDuration, formatMinute, parseTimestamp } from "../util/timestamps.js";
import { readVersion } from "../version.js";
import { type ReporterOptions, TerminalReporter } from "./progress.js";

/**
 * Opens an API client whose waits and requests are reported to the user. The caller must close it.
 * @throws ConfigurationError if the base URL or the key is missing
 */
export async function openApi(
  settings: Settings,
  deps: Deps,
  reporter: TerminalReporter,
): Promise<ApiClient> {
  const { baseUrl, key } = requireCredentials(settings, deps);
  const { maxWaitMs, rateLimit } = settings;
  const { ApiClient } = await import("../api/client.js");
  const waitReasons = {
    "rate-limit": `rate limit of ${rateLimit} requests per minute`,
    server: "the API asked the program to wait",
  } as const;
  reporter.setRateLimit(rateLimit);
  const options = {
    baseUrl,
    key,
    rateLimit,
    maxWaitMs,
    rejectedKeyHint: rejectedKeyHint(settings),
    keyReplacement: describeKeyReplacement(settings),
    userAgent: `brandapi/${readVersion()}`,
    statePath: platformFolder("state", deps),
  };
  return new ApiClient(options, deps, {
    onRetry({ path, reason, waitMs, attempt }) {
      reporter.waiting(waitMs, reason);
      reporter.detail(`${path}: ${reason}; retry ${attempt} in ${Math.round(waitMs)} ms`);
    },
    onWait({ ms, reason }) {
      reporter.waiting(ms, waitReasons[reason]);
      reporter.detail(`waiting ${Math.round(ms)} ms: ${waitReasons[reason]}`);
    },
    onSend: ({ host }) => reporter.startRequest(host),
    onAttemptEnd({ path, status, ms }) {
      reporter.endRequest();
      reporter.detail(`GET ${path}: ${status || "no response"}, ${Math.round(ms)} ms`);
    },
    onNotice: ({ message }) => reporter.note(message),
  });
}

/**
 * Returns the hint for a rejected key. The hint for a stored key does not mention typos, because the API accepted the
 * key at login.
 */
function rejectedKeyHint({ keySource, passedFlags, profile }: Settings): string {
  const createKey = "create a new key in the brand's console (Settings > Integrations > Brand API)";
  if (keySource === "profile")
    return `${createKey}, then run \`brandapi login\` to replace the key in the profile \`${profile}\``;
  if (keySource === "variable")
    return `check the key in the BRANDAPI_KEY variable for a typo, or ${createKey}`;
  if (keySource === "file")
    return `check the key in the file ${passedFlags.keyFile} for a typo, or ${createKey}`;
  return `check the key for a typo, or ${createKey}`;
}

/** The brand and the key from the response to `/me`. See "1. GET /me" and "Brand" in the API documentation. */
export interface Identity {
  brand: { id: string; name: string };
  /** The key, with `expires_at` exactly as the API returned it. */
  key: { id: string | null; scopes: string[]; expires_at: string | null };
  /** A warning about this machine's clock; null if the clock is correct. */
  clockWarning: string | null;
}

/** Requests `/me` with a temporary API client and reporter, which are closed afterwards. */
export async function fetchIdentity(
  settings: Settings,
  flags: ReporterOptions,
  deps: Deps,
): Promise<Identity> {
  const reporter = new TerminalReporter(deps, flags);
  try {
    const api = await openApi(settings, deps, reporter);
    return await deps.runGracefully(() => requestIdentity(api)).finally(() => api.close());
  } finally {
    reporter.close();
  }
}

/**
 * Requests `/me`, which needs no scope and therefore works with any valid key.
 * @throws UnexpectedResponse if the response lacks the brand or the scopes; errors from the API client
 */
export async function requestIdentity(api: Pick<ApiClient, "get">): Promise<Identity> {
  const { data, requestedAt, serverTime } = await api.get("/me");
  const { brand: brandJson, key: keyJson } = asObject(data);
  const [brand, key] = [asObject(brandJson), asObject(keyJson)];
  if (typeof brand.id !== "string" || brand.id === "" || !Array.isArray(key.scopes))
    throw new UnexpectedResponse("The response from /me lacks the documented `brand` or `scopes`.", {
      hint: "check that the base URL is the API's address",
    });
  return {
    brand: { id: brand.id, name: textOrNull(brand.name) ?? "" },
    key: {
      id: textOrNull(key.id),
      scopes: key.scopes.filter((scope) => typeof scope === "string"),
      expires_at: textOrNull(key.expires_at),
    },
    clockWarning: serverTime === null ? null : describeClockSkew(requestedAt - serverTime),
  };
}

const maxSkewMs = 5 * 60_000;

/** @returns a warning, or null if this machine's clock and the API's differ by at most five minutes */
function describeClockSkew(skewMs: number): string | null {
  if (Math.abs(skewMs) <= maxSkewMs) return null;
  return `This machine's clock is ${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? "ahead of" : "behind"} the API's.`;
}

/** Commands print a warning if the key expires within this many days. */
const expiryWarningDays = 14;

/**
 * Returns the number of whole days until the key expires, which is negative if the key has expired. Returns null if the
 * expiry date is missing or invalid.
 */
export function daysUntil(expiresAt: string | null, now: number): number | null {
  const expiryMs = expiresAt === null ? undefined : parseTimestamp(expiresAt);
  return expiryMs === undefined ? null : Math.floor((expiryMs - now) / dayMs);
}

export function warnBeforeExpiry(
  expiresAt: string | null,
  settings: KeySettings,
  now: number,
  warn: Reporter["warn"],
): void {
  const days = daysUntil(expiresAt, now);
  if (days === null || days > expiryWarningDays) return;
  warn(
    `The key expires at ${expiresAt} (${formatDaysLeft(days)}). Create a new key in the console (Settings > Integrations > Brand API), then ${describeKeyReplacement(settings)}.`,
  );
}

type KeySettings = Pick<Settings, "keySource" | "passedFlags">;

/** Describes how to replace the key in use, which may come from the environment or from a file. */
export function describeKeyReplacement({ keySource, passedFlags }: KeySettings): string {
  if (keySource === "variable") return "set BRANDAPI_KEY to the new key";
  if (keySource === "file") return `replace the key in the file ${passedFlags.keyFile}`;
  return "run `brandapi login`";
}

/**
 * Prints the brand and the key as text or, with `--json`, as `{"brand":{…},"key":{…,"days_left"}}`. Prints nothing with
 * `--quiet`.
 * @param more additional fields for `--json`
 */
export function printIdentity(
  deps: Deps,
  flags: GlobalFlags,
  settings: Settings,
  { brand, key }: Identity,
  more: { omit?: readonly string[] } = {},
): void {
  const { id, scopes, expires_at } = key;
  const days_left = daysUntil(expires_at, deps.clock.now());
  if (flags.json) printJson(deps.stdout, { brand, key: { id, scopes, expires_at, days_left }, ...more });
  if (flags.json || flags.quiet) return;
  const facts = [
    ["brand", `${brand.name} (${brand.id})`],
    ["key", id ?? "unknown"],
    ["scopes", scopes.join(", ") || "none"],
    [
      "expires",
      expires_at === null ? "unknown" : `${formatMinute(expires_at)} UTC (${formatDaysLeft(days_left)})`,
    ],
    ["API", settings.baseUrl ?? ""],
    ["profile", settings.profile],
    ["mirror", settings.dbPath],
    ...(settings.omit.length > 0 ? [["omits", settings.omit.join(", ")] as const] : []),
  ] as const;
  const style = createStyle(deps.stdout, flags, deps.env);
  for (const [label, value] of facts)
    deps.stdout.write(`${style.dim(label.padEnd(9))}${escapeText(value)}\n`);
}

/** Formats the time until a key expires, such as `3 days left`, `expired` or `unknown`. */
export function formatDaysLeft(days: number | null): string {
  if (days === null) return "unknown";
  return days < 0 ? "expired" : `${pluralize(days, "day")} left`;
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
