import * as kleur from "kleur/colors";
import type { Deps, OutputStream } from "../deps.js";
import { escapeData } from "./terminal-text.js";

export type Style = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

// Overrides kleur's own check, which covers only `process.stdout`. `styleFor` checks each stream.
kleur.$.enabled = true;

const { bold, dim, red, green, yellow, cyan } = kleur;
const colored: Style = { bold, dim, red, green, yellow, cyan };
const identity = (text: string): string => text;
const plain: Style = {
  bold: identity,
  dim: identity,
  red: identity,
  green: identity,
  yellow: identity,
  cyan: identity,
};

/** Returns the style for a stream. Colors are used on terminals, unless `NO_COLOR` or `--no-color` is set. */
export function styleFor(
  stream: OutputStream,
  output: { color?: boolean | undefined },
  env: Deps["env"] = {},
): Style {
  const isDisabled = output.color === false || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isDisabled ? colored : plain;
}

/** Prints a value as a line of JSON. On a terminal, escapes control characters. */
export function printJson(stdout: OutputStream, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}
