import * as kleur from "kleur/colors";
import type { Deps, OutputStream } from "../deps.js";
import { escapeData } from "./terminal-text.js";

/** Paints text, or leaves it as it is. */
export type Style = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

// kleur's own switch looks at process.stdout alone; here each stream decides for itself.
kleur.$.enabled = true;

const { bold, dim, red, green, yellow, cyan } = kleur;
const painted: Style = { bold, dim, red, green, yellow, cyan };
const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Returns colours only if this very stream is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function styleFor(
  stream: OutputStream,
  output: { color?: boolean | undefined },
  env: Deps["env"] = {},
): Style {
  const isForbidden = output.color === false || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isForbidden ? painted : plain;
}

/** Prints a value as a line of JSON; a pipe gets it as it is. */
export function printJson(stdout: OutputStream, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}

/** Returns the stream with a heading before the first thing that is written to it. */
export function prependHeading(stream: OutputStream, heading: string): OutputStream {
  let isSaid = false;
  const write = (...piece: Parameters<OutputStream["write"]>) => {
    if (!isSaid) stream.write(`${heading}\n`);
    isSaid = true;
    return stream.write(...piece);
  };
  return Object.create(stream, { write: { value: write } });
}
