import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { printJson } from "../ui/data.js";
import { renderFacts } from "../ui/facts.js";
import { styleFor } from "../ui/style.js";
import { daysLeft, type Identity } from "./identity.js";

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
  deps.stdout.write(
    `${renderFacts(facts, { style, width: deps.stdout.isTTY ? deps.stdout.columns : undefined })}\n`,
  );
}

function daysInWords(left: number | null): string {
  if (left === null) return "not a time that this program can read";
  if (left < 0) return "expired";
  return left === 1 ? "1 day left" : `${left} days left`;
}
