import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { ConfigurationError } from "../errors.js";
import { readGrowth } from "../query/index.js";
import { formatBytes } from "../ui/numbers.js";
import { Advice, type Check, ok } from "./check.js";
import { existing } from "./writable.js";

/** Below this, SQLite's journal of one run may not fit. Bytes. */
const leastFree = 32e6;

/** What is free on the mirror's disk, against the mirror's size and growth. */
export const disk: Check = {
  name: "disk",
  async *run({ dbPath, deps, mirror }) {
    const path = await dbPath();
    const { bavail, bsize } = await statfs(existing(path));
    const free = bavail * bsize;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    // A mirror that cannot be opened is told by its own check.
    const open = await mirror().catch(() => null);
    const growth = open && readGrowth(open, size, deps.clock.now());
    const grows = growth === null ? "" : ` and grows by ${formatBytes(growth)} a month`;
    const text = `${formatBytes(free)} free for the mirror, which has ${formatBytes(size)}${grows}`;
    const hint = `free some space on the disk of ${path}, or move the mirror with \`--db\``;
    if (free < Math.max(leastFree, growth ?? 0)) throw new ConfigurationError(`${text}.`, { hint });
    // To make its tables anew, it may take as much again for a while.
    if (free < size + 3 * (growth ?? 0)) throw new Advice(`${text}.`, { hint });
    yield ok(text);
  },
};
