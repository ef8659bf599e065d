import { statSync } from "node:fs";
import { MirrorUnusable } from "../errors.js";
import { findDamage, readInfo } from "../mirror/index.js";
import { formatBytes } from "../ui/numbers.js";
import { type Check, ok } from "./check.js";
import { findClosed } from "./writable.js";

/** The mirror's file: whether it can be written, is one, of this version, and sound. */
export const mirror: Check = {
  name: "mirror",
  async *run({ deps, dbPath, mirror }) {
    const closed = await findClosed(await dbPath());
    if (closed)
      throw new MirrorUnusable(`The mirror cannot be written, ${closed.why}: ${closed.place}.`, closed);
    const open = await mirror();
    const damage = await deps.killable(async () => findDamage(open));
    if (damage !== null)
      throw new MirrorUnusable(`The mirror is damaged (${damage}): ${open.path}.`, {
        hint: "restore it from a backup, or move it away and run `brandapi sync --full`",
      });
    const size = formatBytes(statSync(open.path).size);
    yield ok(`${open.path}: sound, ${size}, of ${readInfo(open, "brand_name") ?? "no brand yet"}`);
  },
};
