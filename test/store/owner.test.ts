import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { saveInfo } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { checkOwner, loadOwner, type OwnerBrand, saveOwner } from "../../src/store/owner.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";

const acme = { id: "a", name: "Acme" };
const other = { id: "b", name: "Acme" };

test.each<[string, OwnerBrand | null, OwnerBrand | undefined]>([
  ["neither the mirror nor the profile has a brand", null, undefined],
  ["the mirror belongs to the key's brand", acme, undefined],
  ["the mirror belongs to the key's brand, which has been renamed", { ...acme, name: "Basalt" }, undefined],
  ["the mirror belongs to the key's brand, but the profile does not", acme, other],
  ["the mirror has no brand and the profile belongs to the key's brand", null, acme],
])("an API key is accepted if %s", (_, owner, expected) => {
  expect(() => checkOwner(owner, acme, expected)).not.toThrow();
});

test.each<[string, string, OwnerBrand | null, OwnerBrand | undefined]>([
  ["the mirror belongs to another brand with the same name", "mirror", other, undefined],
  [
    "the mirror belongs to another brand, even if the profile belongs to the key's brand",
    "mirror",
    other,
    acme,
  ],
  ["the mirror has no brand, and the profile belongs to another brand", "profile", null, other],
])("an API key is rejected if %s", (_, what, owner, expected) => {
  const message = `The ${what} belongs to another brand, Acme (b), but the key belongs to Acme (a).`;
  expect(() => checkOwner(owner, acme, expected)).toThrow(message);
});

test("if a mirror stores its brand's ID but not its name, the ID is used as the name", async () => {
  const mirror = await makeMirror();
  expect(loadOwner(mirror)).toBeNull();
  mirror.transaction(() => saveInfo(mirror, "brand_id", "a"));
  expect(loadOwner(mirror)).toEqual({ id: "a", name: "a" });
  saveOwner(mirror, acme);
  expect(loadOwner(mirror)).toEqual(acme);
});

test("a command with the API key of a different brand neither creates nor changes the mirror", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  await expect(openMirror(path, { brands: { ofKey: acme, ofProfile: other } })).rejects.toThrow(
    "profile belongs",
  );
  expect(existsSync(path)).toBe(false);
  const renamed = { ...acme, name: "Basalt" };
  for (const ofKey of [acme, renamed])
    (await openMirror(path, { brands: { ofKey, ofProfile: undefined } })).db.close();
  await expect(openMirror(path, { brands: { ofKey: other, ofProfile: other } })).rejects.toThrow(
    "mirror belongs",
  );
  const mirror = await openMirror(path);
  expect(loadOwner(mirror)).toEqual(renamed);
  mirror.db.close();
});
