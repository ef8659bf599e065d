import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** What a mirror's own file begins with: it counts the file's versions and pages. A backup begins otherwise. */
export interface Beginning {
  /** Notes a first page that SQLite may bring into the file. */
  expect(page: Buffer): void;
  /** Takes how the file begins now for as good as what was expected. */
  allow(): void;
  /** Whether the file begins as it did, or as SQLite was expected to change it, and is as long. */
  isOwn(): boolean;
  /** From here on, the file is expected to begin as it does now: the log holds nothing that may be brought in. */
  accept(): void;
  /** Only once SQLite has closed the file: closing it takes this process's locks away. */
  close(): void;
}

/** The layout is SQLite's: https://www.sqlite.org/fileformat2.html#the_database_header */
const headerBytes = 100;

export function openBeginning(path: string): Beginning {
  const fd = openSync(path, "r");
  let expected = new Set([read()]);
  let least = size();

  function size(): number {
    return fstatSync(fd).size;
  }

  function read(): string {
    const page = Buffer.alloc(headerBytes);
    return textOf(page.subarray(0, readSync(fd, page, 0, headerBytes, 0)));
  }

  function isOwn(): boolean {
    return expected.has(read()) && size() >= least;
  }

  return {
    expect(page) {
      expected.add(textOf(page));
      least = Math.min(least, sizeOf(page));
    },
    allow() {
      expected.add(read());
      least = Math.min(least, size());
    },
    isOwn,
    accept() {
      expected = new Set([read()]);
      least = size();
    },
    close: () => closeSync(fd),
  };
}

function textOf(page: Buffer): string {
  return page.toString("latin1", 0, headerBytes);
}

/** Bytes of the whole file, by what its first page says. */
function sizeOf(page: Buffer): number {
  const pageSize = page.readUInt16BE(16);
  return page.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize);
}
