import type { ApiClient } from "../api/index.js";
import type { Profile } from "../config/profiles.js";
import { commandFor, type Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UnexpectedAnswer } from "../errors.js";
import { counted } from "../lib/counted.js";
import { dayMs, formatSpan, parseTimestamp } from "../lib/times.js";
import { type Mirror, rememberedKey } from "../mirror/index.js";
import type { Json, JsonObject } from "../resources/types.js";
import { clockSkew } from "../sync/clock.js";
import { renderFacts } from "../ui/facts.js";
import { printJson } from "../ui/print.js";
import { styleFor } from "../ui/style.js";
import { terminalWidth } from "../ui/width.js";

/** Whose key it is: the API document, "1. GET /me" and "Brand". Members unknown to this version are left out. */
export interface Identity {
  brand: { id: string; name: string };
  key: {
    id: string | null;
    scopes: readonly string[];
    /** A timestamp as the API sent it. */
    expires_at: string | null;
  };
  /** How far this machine's clock is off the API's, as a sentence; null if it is right. */
  skew: string | null;
}

const warnWithinDays = 14;

/**
 * Asks `/me`, which needs no scope: an answer proves that the key works.
 * @throws UnexpectedAnswer when it names no brand or no scopes, KeyRejected, ApiUnavailable, and the like
 */
export async function readIdentity(api: Pick<ApiClient, "get">): Promise<Identity> {
  const answer = await api.get("/me");
  const { data } = answer;
  const brand = member(data, "brand");
  const key = member(data, "key");
  const id = member(brand, "id");
  if (typeof id !== "string" || id === "") throw unexpected("it names no `brand.id`");
  const scopes = member(key, "scopes");
  if (!Array.isArray(scopes)) throw unexpected("`key.scopes` is not a list");
  return {
    brand: { id, name: text(member(brand, "name")) ?? "" },
    key: {
      id: text(member(key, "id")),
      scopes: scopes.filter((scope) => typeof scope === "string"),
      expires_at: text(member(key, "expires_at")),
    },
    skew: clockSkew(answer),
  };
}

/**
 * When a profile's key expires, without asking: the mirror was told last where it was the same key, or none is stored.
 * @param mirror null where there is none that can be opened
 */
export function lastKnownExpiry({ keyId, keyExpiresAt }: Profile, mirror: Mirror | null): string | null {
  const told = mirror && rememberedKey(mirror);
  const isOther = keyExpiresAt !== undefined && keyId !== undefined && keyId !== told?.id;
  return (isOther ? undefined : told?.expires_at) ?? keyExpiresAt ?? null;
}

/** Whole days until the key expires, negative once it has; null when the API gave no readable time. */
export function daysLeft(expiresAt: string | null, now: number): number | null {
  const expires = expiresAt === null ? undefined : parseTimestamp(expiresAt);
  return expires === undefined ? null : Math.floor((expires - now) / dayMs);
}

/** What to say, at every sync, about a key with 14 days or less left (contract, section 3); otherwise undefined. */
export function expiryWarning(expiresAt: string | null, now: number, profile: string): string | undefined {
  // As many whole days as `whoami` says.
  const days = daysLeft(expiresAt, now);
  if (expiresAt === null || days === null || days > warnWithinDays) return undefined;
  const left = days > 0 ? days * dayMs : (parseTimestamp(expiresAt) ?? now) - now;
  const when = left > 0 ? `expires in ${formatSpan(left)}` : "has expired";
  return (
    `The key ${when} (${expiresAt}): create a new one in the console ` +
    `(settings, integrations, brand API), then run \`${commandFor("login", profile)}\`.`
  );
}

/** The same warning without asking anybody, for a mirror that is open. */
export async function knownExpiryWarning(
  { configDir, profile }: Pick<Settings, "configDir" | "profile">,
  mirror: Mirror,
  now: number,
): Promise<string | undefined> {
  const { readProfiles } = await import("../config/profiles.js");
  const stored = (await readProfiles(configDir)).get(profile) ?? {};
  return expiryWarning(lastKnownExpiry(stored, mirror), now, profile);
}

/** Prints whose key it is: for people as lines, with `--json` as `{"brand":{…},"key":{…,"days_left"}}`. */
export function printIdentity(
  deps: Deps,
  settings: Pick<Settings, "profile" | "baseUrl" | "dbPath" | "output">,
  { brand, key }: Identity,
): void {
  const left = daysLeft(key.expires_at, deps.clock.now());
  if (settings.output.json) {
    const { id, scopes, expires_at } = key;
    printJson(deps.stdout, { brand, key: { id, scopes, expires_at, days_left: left } });
    return;
  }
  const expires = key.expires_at === null ? "not said" : `${key.expires_at} (${daysInWords(left)})`;
  const facts = [
    ["brand", `${brand.name} (${brand.id})`],
    ["key", key.id ?? "not said"],
    ["scopes", key.scopes.length === 0 ? "none" : key.scopes.join(", ")],
    ["expires", expires],
    ["API", settings.baseUrl ?? ""],
    ["profile", settings.profile],
    ["mirror", settings.dbPath],
  ] as const;
  const style = styleFor(deps.stdout, settings.output, deps.env);
  deps.stdout.write(`${renderFacts(facts, { style, width: terminalWidth(deps.stdout) })}\n`);
}

function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as JsonObject)[name];
}

function text(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function unexpected(what: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`The answer to /me is not as documented: ${what}.`, {
    hint: "check that the base URL is the API's",
  });
}

function daysInWords(left: number | null): string {
  if (left === null) return "not a time that this program can read";
  if (left < 0) return "expired";
  return `${counted(left, "day")} left`;
}
