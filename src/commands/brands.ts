import { existsSync } from "node:fs";
import { type KnownProfile, readKnownProfiles } from "../config/profiles.js";
import type { Deps } from "../deps.js";
import { type Mirror, readInfo } from "../mirror/index.js";
import { oldestSuccess, openMirrorOrNone } from "../query/index.js";
import { daysLeft, lastKnownExpiry } from "./identity.js";

/** One brand of this machine, as `profiles --json` prints it. Times are ISO 8601, ages seconds. */
export interface Brand {
  profile: string;
  brand: { id: string | null; name: string } | null;
  base_url: string | null;
  mirror: string;
  /** When what was read longest ago was last read well; null: never. */
  last_success_at: string | null;
  age_seconds: number | null;
  /** Of the key that is stored, otherwise of the one that filled the mirror; null: not known here. */
  key: { stored: boolean; expires_at: string | null; days_left: number | null };
  /** Why the mirror cannot be read. */
  error: string | null;
}

/** Every brand that is set up on this machine, as far as is known without asking anybody. */
export async function lookAtBrands(deps: Deps): Promise<Brand[]> {
  const brands: Brand[] = [];
  for (const profile of await readKnownProfiles(deps)) brands.push(await lookAt(profile, deps.clock.now()));
  return brands;
}

async function lookAt({ name, stored, mirror: path }: KnownProfile, now: number): Promise<Brand> {
  const { mirror, error } = await openQuietly(path);
  try {
    const brandName = (mirror && readInfo(mirror, "brand_name")) ?? stored.brandName;
    const id = (mirror && readInfo(mirror, "brand_id")) ?? stored.brandId ?? null;
    const expires = lastKnownExpiry(stored, mirror);
    const last = mirror && oldestSuccess(mirror);
    return {
      profile: name,
      brand: brandName === undefined ? null : { id, name: brandName },
      base_url: stored.baseUrl ?? null,
      mirror: path,
      last_success_at: last,
      age_seconds: last === null ? null : Math.max(0, Math.round((now - Date.parse(last)) / 1_000)),
      key: { stored: stored.key !== undefined, expires_at: expires, days_left: daysLeft(expires, now) },
      error,
    };
  } finally {
    mirror?.db.close();
  }
}

/** A mirror that cannot be opened hides none of the others. */
async function openQuietly(path: string): Promise<{ mirror: Mirror | null; error: string | null }> {
  try {
    return { mirror: existsSync(path) ? await openMirrorOrNone(path) : null, error: null };
  } catch (error) {
    return { mirror: null, error: error instanceof Error ? error.message : String(error) };
  }
}
