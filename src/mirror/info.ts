import { MirrorUnusable } from "../errors.js";
import { type Mirror, statement } from "./mirror.js";

export function readInfo(mirror: Mirror, name: string): string | null {
  const select = statement(mirror, "SELECT value FROM mirror_info WHERE name = ?").pluck();
  return (select.get(name) as string | undefined) ?? null;
}

export function writeInfo(mirror: Mirror, name: string, value: string): void {
  statement(
    mirror,
    `INSERT INTO mirror_info VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
  ).run(name, value);
}

export function forgetInfo(mirror: Mirror, name: string): void {
  statement(mirror, "DELETE FROM mirror_info WHERE name = ?").run(name);
}

interface Brand {
  id: string;
  name: string;
}

/**
 * Checks that a mirror belongs to the key's brand: it belongs to the brand that filled it first.
 * @param mirror null: there is none yet
 * @param expected the brand of the profile, which counts until the mirror is filled
 * @throws MirrorUnusable if the key is another brand's
 */
export function checkOwner(mirror: Mirror | null, brand: Brand, expected?: Brand): void {
  const id = mirror && readInfo(mirror, "brand_id");
  const owner = id === null ? expected : { id, name: (mirror && readInfo(mirror, "brand_name")) ?? id };
  if (owner === undefined || owner.id === brand.id) return;
  // Two brands may have one name.
  const [mine, yours] = [owner, brand].map((one) => `${one.name} (${one.id})`);
  const what = id === null ? "profile" : "mirror";
  throw new MirrorUnusable(`The ${what} belongs to another brand, ${mine}, and the key to ${yours}.`, {
    hint: "use a profile for each brand: `--profile NAME`, or another file: `--db PATH`",
  });
}

/** Makes the mirror this brand's. @throws MirrorUnusable if it is another brand's */
export function claimMirror(mirror: Mirror, brand: Brand): void {
  checkOwner(mirror, brand);
  writeInfo(mirror, "brand_id", brand.id);
  writeInfo(mirror, "brand_name", brand.name);
}
