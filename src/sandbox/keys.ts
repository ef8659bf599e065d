import { draws, hex, uuid } from "./data/random.js";
import { day } from "./time.js";

/** The scopes that a key can carry: API document, Authentication 4. */
export const scopes: readonly string[] =
  "analytics opportunities content roster recommendations gifts codes surveys"
    .split(" ")
    .map((name) => `${name}:read`);

export interface ApiKey {
  name: string;
  secret: string;
  /** In a few words, for the person who chooses one. */
  note: string;
  id: string;
  scopes: readonly string[];
  /** Milliseconds since 1970. */
  expiresAt: number;
  revoked: boolean;
  /** The addresses that the key may be used from; null: any. */
  allowlist: readonly string[] | null;
  /** True if the brand's plan includes Analytics. */
  plan: boolean;
}

/** Returns a key with every scope. */
export function createKey(seed: number, name: string, now: number, differs: Partial<ApiKey> = {}): ApiKey {
  const d = draws(seed, `key ${name}`);
  return {
    name,
    id: uuid(d),
    secret: `brk_sandbox_${name.replace("-", "_")}_${hex(d, 8)}${hex(d, 8)}`,
    note: "every scope",
    scopes,
    // The document shows no longest life; this is a believable one.
    expiresAt: now + 3 * 365 * day,
    revoked: false,
    allowlist: null,
    plan: true,
    ...differs,
  };
}

/** Returns a brand's keys, one for each thing that can be wrong with a key; the first has every scope. */
export function createKeys(seed: number, now: number): ApiKey[] {
  const key = (name: string, note: string, differs: Partial<ApiKey> = {}) =>
    createKey(seed, name, now, { note, ...differs });
  return [
    key("all", "every scope"),
    key("expiring", "every scope, expires in 3 days", { expiresAt: now + 3 * day }),
    key("expired", "expired yesterday: 401", { expiresAt: now - day }),
    key("revoked", "revoked: 401", { revoked: true }),
    key("ip-blocked", "allowed from 203.0.113.7 only: 403", { allowlist: ["203.0.113.7"] }),
    key("no-plan", "every scope, a plan without Analytics: 402", { plan: false }),
    key("only-me", "no scope at all: /me only", { scopes: [] }),
    ...scopes.map((scope) => key(`only-${scope.split(":")[0]}`, `${scope} only`, { scopes: [scope] })),
  ];
}
