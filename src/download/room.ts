import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";

/** What a file of unknown length leaves free on its disk: a twentieth of the disk, and no more than a gigabyte. */
const reserveShare = 1 / 20;
const mostReserveBytes = 1e9;
/** So much is taken before the disk is looked at again. */
const atOnceBytes = 2 ** 20;

/** Thrown when a file of unknown length would take what is to be left free. */
export class DiskNearlyFull extends ConfigurationError {}

/** The room on a disk for a file whose length the API does not tell: it may be endless. */
export interface Room {
  /** @throws DiskNearlyFull when so many bytes more would leave too little free */
  take(bytes: number): Promise<void>;
}

/** @param path the file's */
export function openRoom(path: string): Room {
  let left = 0;
  return {
    async take(bytes) {
      if (left < bytes) left = Math.min(await freeAt(dirname(path)), atOnceBytes + bytes);
      if (left < bytes)
        throw new DiskNearlyFull(`A file whose size the API does not tell would fill the disk: ${path}.`, {
          hint: "free some space, then run the same command again: such a file leaves 5 % of the disk free, or 1 GB",
        });
      left -= bytes;
    },
  };
}

async function freeAt(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return bavail * bsize - Math.min(mostReserveBytes, blocks * bsize * reserveShare);
}
