import { createHash } from "node:crypto";
import { createReadStream, existsSync, rmdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { openFileSink } from "./file-sink.js";
import { ownMark } from "./formats/parquet.js";
import type { Sink } from "./sink.js";

/** Parquet files that this program wrote, in folders where others may have files too. */

/** @throws ConfigurationError where another program's file has this name */
export async function refuseForeign(path: string): Promise<void> {
  if (!existsSync(path) || (await isOwn(path))) return;
  throw new ConfigurationError(`A file is in the way that \`brandapi\` did not write: ${path}`, {
    hint: "name another folder with `-o`, or move the file away",
  });
}

/** Removes such a file, and its folder where nothing else is in it. @returns whether there was one */
export async function removeOwn(folder: string, name: string): Promise<boolean> {
  const path = join(folder, name);
  if (!existsSync(path) || !(await isOwn(path))) return false;
  rmSync(path);
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else's files stay where they are.
  }
  return true;
}

/** A file that is replaced only where its bytes would be others. */
export async function openUnlessSame(
  path: string,
  deps: Pick<Deps, "random" | "clock" | "signal">,
): Promise<Sink & { isWritten(): boolean }> {
  const sink = await openFileSink(path, deps);
  const hash = createHash("sha256");
  let isWritten = false;
  return {
    isWritten: () => isWritten,
    discard: sink.discard,
    async write(data) {
      hash.update(data);
      await sink.write(data);
    },
    async finish() {
      if ((await hashOf(path)) === hash.digest("hex")) return await sink.discard();
      await sink.finish();
      isWritten = true;
    },
  };
}

async function hashOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}

/** A Parquet file ends with its metadata, their length in four bytes, and `PAR1`. */
async function isOwn(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size < 12) return false;
    const end = Buffer.alloc(8);
    await file.read(end, 0, 8, size - 8);
    const length = end.readUInt32LE(0);
    if (end.toString("latin1", 4) !== "PAR1" || length > size - 12) return false;
    const metadata = Buffer.alloc(length);
    await file.read(metadata, 0, length, size - 8 - length);
    return metadata.includes(ownMark);
  } finally {
    await file.close();
  }
}
