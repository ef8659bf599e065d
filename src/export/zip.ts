import { constants, crc32, deflateRawSync } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";

/** A zip file that is made piece by piece. What it consists of lies ready after each step, to be taken. */
export interface ZipStream {
  /** Begins the next file in it; the one before ends. */
  begin(name: string): void;
  write(text: string): void;
  end(): void;
  /** What was made since the last time. */
  take(): Uint8Array;
}

/** More than four bytes can say of a file's length would need another kind of zip. */
const mostBytes = 2 ** 32 - 1;
/** Sheets are long and alike: a higher level takes far longer and saves little. */
const level = 3;

/**
 * fflate lays out the zip, Node's own zlib compresses it, several times as fast: each piece by itself, which is
 * allowed to follow another.
 * @param tooLarge what to throw where a file grows beyond 4 GB
 */
export function openZip(tooLarge: () => Error): ZipStream {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, data) => {
    if (error) throw error;
    made.push(data);
  });
  let file: ZipInputFile | undefined;
  const finish = () => {
    file?.ondata?.(null, deflateRawSync(new Uint8Array()), true);
    file = undefined;
  };
  return {
    begin(name) {
      finish();
      // The time is always the same, so that the same rows give the same bytes.
      file = { filename: name, size: 0, crc: 0, compression: 8, mtime: new Date(2000, 0, 1) };
      zip.add(file);
    },
    write(text) {
      if (!file) throw new Error("no file to write to");
      const data = Buffer.from(text);
      file.size += data.length;
      if (file.size > mostBytes) throw tooLarge();
      file.crc = crc32(data, file.crc);
      file.ondata?.(null, deflateRawSync(data, { level, finishFlush: constants.Z_SYNC_FLUSH }), false);
    },
    end() {
      finish();
      zip.end();
    },
    take() {
      const taken = Buffer.concat(made);
      made = [];
      return taken;
    },
  };
}
