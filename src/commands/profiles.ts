import { daysUntil, formatDaysLeft } from "../cli/api-session.js";
import { TerminalReporter } from "../cli/progress.js";
import type { GlobalFlags } from "../config/settings.js";
import { mirrorPath, type Profile, readProfilesWithKey } from "../config/stored-profiles.js";
import type { Context } from "../deps.js";
import { findOldestSuccess } from "../query/health.js";
import { withMirror } from "../store/database.js";
import { openMirrorOrEmpty } from "../store/open.js";
import { errorReason } from "../util/system-errors.js";
import { createStyle, printJson, terminalWidth } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import { formatDuration } from "../util/timestamps.js";

export const about =
  "Shows each brand's mirror, the age of its oldest data, and the number of days until its key expires. Requires no network access.";

export const examples = {
  "brandapi profiles": "list all brands",
  "brandapi profiles --json | jq '.[] | select(.key.days_left < 30)'":
    "list the brands whose keys expire within 30 days",
};

export async function run(flags: GlobalFlags, { deps }: Context): Promise<void> {
  const { stdout, env, clock } = deps;
  const { note, warn } = new TerminalReporter(deps, flags);
  const brands: ListedProfile[] = [];
  for (const [profile, stored] of readProfilesWithKey(deps)) {
    const dbPath = mirrorPath(profile, stored.db, deps);
    // An unreadable mirror must not prevent the other brands from being listed.
    const lastSuccessAt = await loadOldestSuccess(dbPath).catch((error) =>
      warn(`${profile}: ${errorReason(error)}`),
    );
    brands.push({ profile, mirror: dbPath, ...toBrandFields(stored, lastSuccessAt ?? null, clock.now()) });
  }
  if (flags.json) return printJson(stdout, brands);
  if (brands.length === 0) return note("No brand is configured on this machine yet; run `brandapi login`.");
  const style = createStyle(stdout, flags, env);
  const format = { width: terminalWidth(stdout), style, pathColumn: "mirror", optionalColumns: ["brand"] };
  const columns = ["profile", "brand", "mirror", "age", "key"];
  stdout.write(
    `${renderTable(
      columns,
      brands.map((brand) => formatProfileRow(brand, brands)),
      format,
    )}\n`,
  );
}

type ListedProfile = ReturnType<typeof toBrandFields> & { profile: string; mirror: string };

async function loadOldestSuccess(path: string): Promise<string | null> {
  return await withMirror(openMirrorOrEmpty(path), findOldestSuccess);
}

/**
 * Describes the brand and the key that `login` stored. Times are ISO 8601 strings; null means unknown.
 * @param lastSuccessAt the time of the last successful sync; if it differs between resources, the oldest such time
 */
function toBrandFields(stored: Profile, lastSuccessAt: string | null, now: number) {
  const { baseUrl = null, brandId = null, brandName = null, keyExpiresAt: expires_at = null } = stored;
  return {
    brand: { id: brandId, name: brandName },
    base_url: baseUrl,
    key: { expires_at, days_left: daysUntil(expires_at, now) },
    last_success_at: lastSuccessAt,
    age_seconds:
      lastSuccessAt === null ? null : Math.max(0, Math.round((now - Date.parse(lastSuccessAt)) / 1_000)),
  };
}

function formatProfileRow(listed: ListedProfile, all: readonly ListedProfile[]): string[] {
  const { profile, mirror, age_seconds, key } = listed;
  const age = age_seconds === null ? "none" : formatDuration(age_seconds * 1_000);
  return [profile, formatBrand(listed, all), mirror, age, formatDaysLeft(key.days_left)];
}

/** Returns the brand's name. If several brands have the same name, adds the start of the ID and the base URL's host. */
function formatBrand({ brand, base_url }: ListedProfile, all: readonly ListedProfile[]): string {
  const name = brand.name ?? "unknown";
  if (brand.id === null || all.filter((other) => other.brand.name === brand.name).length < 2) return name;
  const host = base_url !== null && URL.canParse(base_url) ? `, ${new URL(base_url).host}` : "";
  return `${name} (${brand.id.slice(0, 8)}${host})`;
}
