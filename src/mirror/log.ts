import { closeSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";

/** SQLite's write-ahead log, beside a mirror: what was committed and is not in the mirror's own file yet. */
export interface Log {
  /**
   * Whether the log still holds its first so many pages as they were written, by SQLite's own checksums. What was proven
   * before is not read again, but for its end: whatever cuts a log takes that first.
   */
  holds(pages: number): boolean;
  close(): void;
}

/** The layout is SQLite's: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32;
const frameHeaderBytes = 24;
/** The last bit tells the order of bytes of the machine that began the log: its checksums go by it. */
const magic = 0x377f0682;
const isBigEndian = endianness() === "BE" ? 1 : 0;

type Sums = readonly [number, number];

/**
 * Opens the log that SQLite has open too: of its files the only one that this process holds no locks on.
 * @param sawFirst is given the mirror's first page, each time that the log has it, to look at while it is called
 */
export function openLog(path: string, sawFirst: (page: Buffer) => void): Log {
  const fd = openSync(path, "r");
  const header = aligned(headerBytes);
  let frame = aligned(0);
  /** Of the log with this header: pages proven, and the checksums before the last of them. */
  let proven = { header: "", pages: 0, before: [0, 0] as Sums };

  function holds(pages: number): boolean {
    if (!read(fd, header, 0) || (header.readUInt32BE(0) & ~1) !== magic) return false;
    // One that came from a machine of the other order is believed.
    const isOurs = (header.readUInt32BE(0) & 1) === isBigEndian;
    const start = add([0, 0], header, 0, headerBytes - 8);
    if (isOurs && !isEqual(start, header, headerBytes - 8)) return false;
    const text = header.toString("latin1");
    // A log that has begun anew has another header.
    if (proven.header !== text) proven = { header: text, pages: 0, before: start };
    const bytes = frameHeaderBytes + header.readUInt32BE(8);
    if (frame.length !== bytes) frame = aligned(bytes);
    let sums = proven.before;
    for (let page = Math.max(1, proven.pages); page <= pages; page += 1) {
      if (!read(fd, frame, headerBytes + (page - 1) * bytes)) return false;
      const before = sums;
      sums = add(add(before, frame, 0, 8), frame, frameHeaderBytes, bytes);
      if (isOurs && !isEqual(sums, frame, 16)) return false;
      if (frame.readUInt32BE(0) === 1) sawFirst(frame.subarray(frameHeaderBytes));
      proven = { header: text, pages: page, before };
    }
    return true;
  }

  return { holds, close: () => closeSync(fd) };
}

/** Bytes that can be read as whole words. */
function aligned(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}

function read(fd: number, into: Buffer, at: number): boolean {
  return readSync(fd, into, 0, into.length, at) === into.length;
}

function isEqual([first, second]: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second;
}

function add([first, second]: Sums, { buffer }: Buffer, from: number, to: number): Sums {
  const words = new Int32Array(buffer, from, (to - from) / 4);
  // Whole numbers of 32 bits all the way: that is twenty times as fast.
  let a = first | 0;
  let b = second | 0;
  for (let at = 0; at < words.length; at += 2) {
    a = (((a + (words[at] ?? 0)) | 0) + b) | 0;
    b = (((b + (words[at + 1] ?? 0)) | 0) + a) | 0;
  }
  return [a, b];
}
