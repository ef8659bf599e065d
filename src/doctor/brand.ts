import { checkOwner } from "../mirror/index.js";
import { type Check, ok } from "./check.js";

/** Whether the key is of the brand that the mirror belongs to. */
export const brand: Check = {
  name: "brand",
  async *run({ me, mirror }) {
    const { brand } = await me();
    checkOwner(await mirror(), brand);
    yield ok(`the key and the mirror are of ${brand.name}`);
  },
};
