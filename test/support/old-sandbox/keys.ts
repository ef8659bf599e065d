import { hash, hex, topics, uuid } from "./data/random.js";
import { day } from "./data/timeline.js";

/** The scopes a key can carry: API document, Authentication 4. */
export const scopes = [
  "analytics:read",
  "opportunities:read",
  "content:read",
  "roster:read",
  "recommendations:read",
  "gifts:read",
  "codes:read",
  "surveys:read",
] as const;
export type Scope = (typeof scopes)[number];

/** A key as a person may see it. */
export interface SandboxKey {
  name: string;
  secret: string;
  /** What it is good for, in a few words. */
  note: string;
}

export type KeyName =
  | "all"
  | "expiring"
  | "expired"
  | "revoked"
  | "ip-blocked"
  | "no-plan"
  | "other-brand"
  | `only-${string}`;

/** What the server knows about a key. */
export interface KeyRecord extends SandboxKey {
  id: string;
  scopes: readonly Scope[];
  expiresAt: number;
  revoked: boolean;
  /** Addresses the key may be used from; undefined: any. */
  allowlist: readonly string[] | undefined;
  /** Whether the brand's plan includes Analytics. */
  plan: boolean;
  brand: "main" | "other";
}

/** Longest believable life of a key; the document shows no maximum. */
const life = 3 * 365 * day;

export function createKeys(seed: number, now: number): KeyRecord[] {
  const base = {
    scopes,
    expiresAt: now + life,
    revoked: false,
    allowlist: undefined,
    plan: true,
    brand: "main",
  } as const;
  const drafts: Omit<KeyRecord, "id" | "secret">[] = [
    { ...base, name: "all", note: "every scope" },
    { ...base, name: "expiring", note: "every scope, expires in 3 days", expiresAt: now + 3 * day },
    { ...base, name: "expired", note: "expired yesterday: 401", expiresAt: now - day },
    { ...base, name: "revoked", note: "revoked: 401", revoked: true },
    { ...base, name: "ip-blocked", note: "allowed from 203.0.113.7 only: 403", allowlist: ["203.0.113.7"] },
    { ...base, name: "no-plan", note: "every scope, a plan without Analytics: 402", plan: false },
    { ...base, name: "other-brand", note: "every scope, another brand", brand: "other" },
    { ...base, name: "only-me", note: "no scope at all: /me only", scopes: [] },
    ...scopes.map((scope) => ({
      ...base,
      name: `only-${scope.slice(0, scope.indexOf(":"))}`,
      note: `${scope} only`,
      scopes: [scope],
    })),
  ];
  return drafts.map((draft, place) => ({
    ...draft,
    id: uuid(seed, topics.key, place),
    secret: `brk_sandbox_${draft.name.replace("-", "_")}_${hex(hash(seed, topics.key, place + 100), 8)}${hex(hash(seed, topics.key, place + 200), 8)}`,
  }));
}
