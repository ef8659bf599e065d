import { MirrorUnusable } from "../../errors.js";
import { type Mirror, readInfo, writeInfo } from "./database.js";

interface OwnerBrand {
  id: string;
  name: string;
}

/** Returns the brand that the mirror belongs to, the one that filled it first; null for an empty mirror. */
export function readOwner(mirror: Mirror): OwnerBrand | null {
  const id = readInfo(mirror, "brand_id");
  return id === null ? null : { id, name: readInfo(mirror, "brand_name") ?? id };
}

/**
 * Checks that a mirror belongs to the key's brand.
 * @param owner the mirror's brand; null if there is no mirror, or an empty one
 * @param expected the brand of the profile, which counts for a mirror without an owner
 * @throws MirrorUnusable if the key is another brand's
 */
export function checkOwner(owner: OwnerBrand | null, brand: OwnerBrand, expected?: OwnerBrand): void {
  const required = owner ?? expected;
  if (required === undefined || required.id === brand.id) return;
  // Two brands may have the same name.
  const [requiredText, keyText] = [required, brand].map(({ id, name }) => `${name} (${id})`);
  const what = owner === null ? "profile" : "mirror";
  throw new MirrorUnusable(
    `The ${what} belongs to another brand, ${requiredText}, and the key to ${keyText}.`,
    { hint: "use a profile for each brand: `--profile NAME`, or another file: `--db PATH`" },
  );
}

/** Assigns the mirror to this brand. @throws MirrorUnusable if it belongs to another brand */
export function claimMirror(mirror: Mirror, brand: OwnerBrand): void {
  checkOwner(readOwner(mirror), brand);
  writeInfo(mirror, "brand_id", brand.id);
  writeInfo(mirror, "brand_name", brand.name);
}
