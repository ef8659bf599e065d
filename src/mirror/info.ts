import { MirrorUnusable } from "../errors.js";
import { type Mirror, statement } from "./mirror.js";

export function readInfo(mirror: Mirror, name: string): string | null {
  return (
    (statement(mirror, "SELECT value FROM mirror_info WHERE name = ?").pluck().get(name) as
      | string
      | undefined) ?? null
  );
}

export function writeInfo(mirror: Mirror, name: string, value: string): void {
  mirror.db
    .prepare(
      "INSERT INTO mirror_info VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
    )
    .run(name, value);
}

export function forgetInfo(mirror: Mirror, name: string): void {
  mirror.db.prepare("DELETE FROM mirror_info WHERE name = ?").run(name);
}

/**
 * A mirror belongs to the brand that filled it first.
 * @param mirror null: there is none yet
 * @param expected whose it is to be, while nobody has filled it: its profile's
 * @throws MirrorUnusable when the key is another brand's; nothing is written
 */
export function checkOwner(mirror: Mirror | null, brand: Brand, expected?: Brand): void {
  const id = mirror && readInfo(mirror, "brand_id");
  const owner = id === null ? expected : { id, name: (mirror && readInfo(mirror, "brand_name")) ?? id };
  if (owner === undefined || owner.id === brand.id) return;
  // Names need not tell two brands apart; their ids do.
  const isSame = owner.name === brand.name;
  const [mine, yours] = [owner, brand].map((one) => (isSame ? `${one.name} (${one.id})` : one.name));
  const what = id === null ? "The profile belongs to another brand" : "The mirror belongs to another brand";
  throw new MirrorUnusable(`${what}, ${mine}, and the key to ${yours}.`, {
    hint: "use a profile for each brand: `--profile NAME`, or another file: `--db PATH`",
  });
}

/** Makes the mirror this brand's, or finds that it is. */
export function claimMirror(mirror: Mirror, brand: Brand): void {
  checkOwner(mirror, brand);
  writeInfo(mirror, "brand_id", brand.id);
  writeInfo(mirror, "brand_name", brand.name);
}

/** What `/me` said of the key that filled the mirror last: for what works without a network. Never the key itself. */
export function rememberKey(mirror: Mirror, { id, expires_at }: KeyFacts): void {
  for (const [name, value] of [
    ["key_id", id],
    ["key_expires_at", expires_at],
  ] as const)
    if (value === null) forgetInfo(mirror, name);
    else writeInfo(mirror, name, value);
}

/** The counterpart of `rememberKey`. */
export function rememberedKey(mirror: Mirror): KeyFacts {
  return { id: readInfo(mirror, "key_id"), expires_at: readInfo(mirror, "key_expires_at") };
}

interface KeyFacts {
  id: string | null;
  /** A timestamp as the API sent it. */
  expires_at: string | null;
}

interface Brand {
  id: string;
  name: string;
}
