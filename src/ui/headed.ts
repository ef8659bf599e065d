import type { Output } from "../deps.js";

/** The stream, with a heading before the first thing that is written to it; nothing where nothing is. */
export function headed(stream: Output, heading: string): Output {
  let isSaid = false;
  const write = (...piece: Parameters<Output["write"]>) => {
    if (!isSaid) stream.write(`${heading}\n`);
    isSaid = true;
    return stream.write(...piece);
  };
  return Object.create(stream, { write: { value: write } }) as Output;
}
