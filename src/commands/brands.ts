import { existsSync } from "node:fs";
import { type KnownProfile, readKnownProfiles } from "../config/profiles.js";
import type { Deps } from "../deps.js";
import { type Mirror, readInfo } from "../mirror/index.js";
import { oldestSuccess, openMirrorOrNone } from "../query/index.js";
import { daysLeft, lastKnownExpiry } from "./identity.js";

/** A brand of this machine, as `profiles --json` prints it. Times are ISO 8601, ages seconds. */
export interface Brand {
  profile: string;
  brand: { id: string | null; name: string } | null;
  base_url: string | null;
  mirror: string;
  /** When the resource with the oldest data was last read well; null: never. */
  last_success_at: string | null;
  age_seconds: number | null;
  /** Of the stored key, otherwise of the one that filled the mirror; null: not known here. */
  key: { stored: boolean; expires_at: string | null; days_left: number | null };
  /** Why the mirror cannot be read. */
  error: string | null;
}

/** Returns every brand that is set up on this machine, without a request. */
export async function lookAtBrands(deps: Deps): Promise<Brand[]> {
  const brands: Brand[] = [];
  for (const profile of await readKnownProfiles(deps)) {
    const now = deps.clock.now();
    if (!existsSync(profile.mirror)) brands.push(describeBrand(profile, null, now));
    else
      try {
        const mirror = await openMirrorOrNone(profile.mirror);
        brands.push(describeBrand(profile, mirror, now));
        mirror.db.close();
      } catch (error) {
        // The other brands are listed all the same.
        const message = error instanceof Error ? error.message : String(error);
        brands.push({ ...describeBrand(profile, null, now), error: message });
      }
  }
  return brands;
}

function describeBrand(
  { name, stored, mirror: path }: KnownProfile,
  mirror: Mirror | null,
  now: number,
): Brand {
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
    error: null,
  };
}
