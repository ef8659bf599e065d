import type { Output } from "../deps.js";
import { escapeData } from "./text.js";

/** Prints a value as a line of JSON; a pipe gets it as it is. */
export function printJson(stdout: Output, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}

/** Returns the stream with a heading before the first thing that is written to it. */
export function headed(stream: Output, heading: string): Output {
  let isSaid = false;
  const write = (...piece: Parameters<Output["write"]>) => {
    if (!isSaid) stream.write(`${heading}\n`);
    isSaid = true;
    return stream.write(...piece);
  };
  return Object.create(stream, { write: { value: write } });
}
