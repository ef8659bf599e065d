import * as kleur from "kleur/colors";
import type { Deps, Output } from "../deps.js";

/** Paints text, or leaves it as it is. */
export type Style = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

// kleur's own switch looks at process.stdout alone; here each stream decides for itself.
kleur.$.enabled = true;

const { bold, dim, red, green, yellow, cyan } = kleur;
const painted: Style = { bold, dim, red, green, yellow, cyan };
const plain = (text: string): string => text;
const unpainted: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

/** Colours only if this very stream is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function styleFor(stream: Output, output: { color: boolean }, env: Deps["env"] = {}): Style {
  const isForbidden = !output.color || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isForbidden ? painted : unpainted;
}
