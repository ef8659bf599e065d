import { existsSync } from "node:fs";
import { Command } from "commander";
import { type KnownProfile, readKnownProfiles } from "../config/profiles.js";
import { formatSpan } from "../lib/times.js";
import { type Mirror, readInfo, rememberedKey } from "../mirror/index.js";
import { oldestSuccess, openMirrorOrNone } from "../query/index.js";
import { printJson } from "../ui/print.js";
import { styleFor } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { examples } from "./help.js";
import { daysLeft, lastKnownExpiry, leftText } from "./identity.js";

/** A brand of this machine, as `profiles --json` prints it. Times are ISO 8601, ages seconds. */
interface Brand {
  profile: string;
  brand: { id: string | null; name: string } | null;
  base_url: string | null;
  mirror: string;
  /** When the resource with the oldest data was last read well; null: never. */
  last_success_at: string | null;
  age_seconds: number | null;
  /** Of the stored key, or of the one that filled the mirror; null: not known here. */
  key: { stored: boolean; expires_at: string | null; days_left: number | null };
  /** Why the mirror cannot be read. */
  error: string | null;
}

export function define(context: Context): Command {
  return new Command("profiles")
    .description(
      "Lists each profile's mirror, the age of its oldest data, and the days its key has left. " +
        "Needs no key and no network.",
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi profiles", "the brands, and whose key expires soon"],
        ["brandapi profiles --json | jq '.[] | select(.key.days_left < 30)'", "for scripts"],
      ),
    )
    .action((_, command: Command) => runProfiles(command.optsWithGlobals(), context));
}

async function runProfiles(options: GlobalOptions, { deps }: Context): Promise<void> {
  const brands: Brand[] = [];
  for (const profile of await readKnownProfiles(deps))
    brands.push(await lookAtBrand(profile, deps.clock.now()));
  if (options.json) return printJson(deps.stdout, brands);
  if (brands.length === 0)
    return void deps.stderr.write("No brand is set up here yet: run `brandapi login`.\n");
  const width = terminalWidth(deps.stdout);
  const style = styleFor(deps.stdout, options, deps.env);
  const table = renderTable(["profile", "brand", "mirror", "age", "key"], brands.map(cells), {
    width,
    style,
  });
  const errors = brands
    .filter(({ error }) => error !== null)
    .map(({ profile, error }) => `${style.yellow("!")} ${profile}: ${escapeText(error ?? "")}`);
  deps.stdout.write(`${[table, ...errors].join("\n")}\n`);
}

/** Describes a brand without a request. A mirror that cannot be read is no obstacle for the others. */
async function lookAtBrand(profile: KnownProfile, now: number): Promise<Brand> {
  if (!existsSync(profile.mirror)) return describeBrand(profile, null, now);
  try {
    const mirror = await openMirrorOrNone(profile.mirror);
    const brand = describeBrand(profile, mirror, now);
    mirror.db.close();
    return brand;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...describeBrand(profile, null, now), error: message };
  }
}

function describeBrand(
  { name, stored, mirror: path }: KnownProfile,
  mirror: Mirror | null,
  now: number,
): Brand {
  const brandName = (mirror && readInfo(mirror, "brand_name")) ?? stored.brandName;
  const id = (mirror && readInfo(mirror, "brand_id")) ?? stored.brandId ?? null;
  const expires = lastKnownExpiry(stored, mirror && rememberedKey(mirror));
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

function cells({ profile, brand, mirror, age_seconds, key, error }: Brand): string[] {
  const span = age_seconds === null ? "never synced" : formatSpan(age_seconds * 1_000);
  const stored = key.days_left === null ? "none stored" : `${leftText(key.days_left)}, not stored`;
  return [
    profile,
    brand?.name ?? "unknown",
    mirror,
    error === null ? span : "unknown",
    key.stored ? leftText(key.days_left) : stored,
  ];
}
