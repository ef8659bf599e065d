import { PassThrough, Writable } from "node:stream";
import type { InputStream, OutputStream } from "../../src/deps.js";

/** A stream that keeps what is written to it. */
export type Captured = OutputStream & { readonly text: string };

export function capture(terminal: { isTTY: boolean; columns: number }): Captured {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(piece: string | Buffer, _encoding, done) {
      pieces.push(piece.toString());
      done();
    },
  });
  const size = terminal.isTTY ? { isTTY: true, columns: terminal.columns } : { isTTY: false };
  return Object.defineProperty(Object.assign(stream, size), "text", {
    get: () => pieces.join(""),
  }) as unknown as Captured;
}

/** Typed text for a terminal, or piped text that ends. `raw` counts how often raw mode was switched. */
export function input(text: string | undefined, isTTY: boolean): InputStream & { raw: boolean[] } {
  const stream = new PassThrough();
  const raw: boolean[] = [];
  const setRawMode = (mode: boolean) => raw.push(mode);
  if (text !== undefined) stream.write(text);
  if (!isTTY) stream.end();
  return Object.assign(stream, { isTTY, raw, ...(isTTY ? { setRawMode } : {}) });
}
