import { MirrorUnusable } from "../errors.js";
import { loadInfo, type Mirror, saveInfo } from "./database.js";

export interface OwnerBrand {
  id: string;
  name: string;
}

export function loadOwner(mirror: Mirror): OwnerBrand | null {
  const id = loadInfo(mirror, "brand_id");
  return id === null ? null : { id, name: loadInfo(mirror, "brand_name") ?? id };
}

/**
 * Checks that the key belongs to the mirror's brand.
 * @param owner the mirror's brand, or null if the mirror is empty or does not exist
 * @param brand the key's brand
 * @param expected the profile's brand, which is compared with the key's brand if the mirror has no owner
 * @throws MirrorUnusable if the brands differ
 */
export function checkOwner(owner: OwnerBrand | null, brand: OwnerBrand, expected?: OwnerBrand): void {
  const required = owner ?? expected;
  if (required === undefined || required.id === brand.id) return;
  // Several brands can have the same name, so the IDs are included.
  const [requiredText, keyText] = [required, brand].map(({ id, name }) => `${name} (${id})`);
  const what = owner === null ? "profile" : "mirror";
  throw new MirrorUnusable(
    `The ${what} belongs to another brand, ${requiredText}, but the key belongs to ${keyText}.`,
    {
      hint: "use a separate profile for each brand with `--profile NAME`, or another mirror with `--db PATH`",
    },
  );
}

export function saveOwner(mirror: Mirror, brand: OwnerBrand): void {
  mirror.transaction(() => {
    saveInfo(mirror, "brand_id", brand.id);
    saveInfo(mirror, "brand_name", brand.name);
  });
}
