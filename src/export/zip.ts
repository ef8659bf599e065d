import { constants, crc32, deflateRawSync } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import { UsageError } from "../errors.js";

/** A zip holds longer files only in another form. */
const mostBytes = 2 ** 32 - 1;
/** Sheets compress well: a higher level takes far longer and saves little. */
const level = 3;

/** Opens a zip file. fflate lays it out; Node's own zlib compresses each piece, several times as fast. */
export function openZip() {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, data) => {
    if (error) throw error;
    made.push(data);
  });
  let file: ZipInputFile | undefined;
  const endFile = () => file?.ondata?.(null, deflateRawSync(new Uint8Array()), true);
  return {
    /** Ends the file before, and begins the next. */
    begin(name: string) {
      endFile();
      // Always the same time, because the same rows give the same bytes.
      file = { filename: name, size: 0, crc: 0, compression: 8, mtime: new Date(2000, 0, 1) };
      zip.add(file);
    },
    write(text: string) {
      const data = Buffer.from(text);
      if (!file) throw new Error("no file in the zip was begun");
      file.size += data.length;
      if (file.size > mostBytes)
        throw new UsageError("A sheet is larger than 4 GB.", { hint: "write CSV: `-o FILE.csv`" });
      file.crc = crc32(data, file.crc);
      file.ondata?.(null, deflateRawSync(data, { level, finishFlush: constants.Z_SYNC_FLUSH }), false);
    },
    end() {
      endFile();
      zip.end();
    },
    /** Returns what was made since the last time. */
    take(): Uint8Array {
      const taken = Buffer.concat(made);
      made = [];
      return taken;
    },
  };
}

export type ZipStream = ReturnType<typeof openZip>;
