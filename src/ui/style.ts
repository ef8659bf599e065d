import * as kleur from "kleur/colors";
import type { Deps, Output } from "../deps.js";

const names = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;

/** Paints text, or leaves it as it is. */
export type Style = Readonly<Record<(typeof names)[number], (text: string) => string>> & {
  readonly coloured: boolean;
};

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

/** Colours only if this very stream is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function styleFor(stream: Output, output: { color: boolean }, env: Deps["env"] = {}): Style {
  const isForbidden = !output.color || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isForbidden ? painted : unpainted;
}
