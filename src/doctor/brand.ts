import { checkOwner, isMade } from "../mirror/index.js";
import { type Check, ok } from "./check.js";

/** Whether the key is of the brand that the mirror belongs to. */
export const brand: Check = {
  name: "brand",
  async *run({ me, mirror, settings }) {
    const { brand } = await me();
    const { brand: expected, dbPath } = await settings();
    if (!isMade(dbPath)) checkOwner(null, brand, expected);
    checkOwner(await mirror(), brand, expected);
    yield ok(`the key and the mirror are of ${brand.name}`);
  },
};
