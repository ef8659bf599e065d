import * as kleur from "kleur/colors";
import type { Deps, Output } from "../deps.js";

/** Paints text, or leaves it as it is where the stream is no terminal. */
export interface Style {
  readonly coloured: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

// kleur's own switch looks at process.stdout alone; here each stream decides for itself.
kleur.$.enabled = true;

const plain = (text: string): string => text;
const unpainted: Style = {
  coloured: false,
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
};
const painted: Style = {
  coloured: true,
  bold: (text) => kleur.bold(text),
  dim: (text) => kleur.dim(text),
  red: (text) => kleur.red(text),
  green: (text) => kleur.green(text),
  yellow: (text) => kleur.yellow(text),
  cyan: (text) => kleur.cyan(text),
};

/**
 * Colour only where this very stream is a terminal, and neither `NO_COLOR` nor `--no-color` (`color: false`) forbids it.
 */
export function styleFor(stream: Output, output: { color: boolean }, env: Deps["env"] = {}): Style {
  const forbidden = !output.color || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !forbidden ? painted : unpainted;
}
