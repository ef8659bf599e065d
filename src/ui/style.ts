import type { Deps, Output } from "../deps.js";

/** Paints text, or leaves it as it is. */
export type Style = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

/** The terminal's numbers: one that begins, and one that ends. */
const painted: Style = {
  bold: between(1, 22),
  dim: between(2, 22),
  red: between(31, 39),
  green: between(32, 39),
  yellow: between(33, 39),
  cyan: between(36, 39),
};
const same = (text: string): string => text;
/** Leaves text as it is. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Returns colours only if this very stream is a terminal, and neither `NO_COLOR` nor `--no-color` forbids them. */
export function styleFor(
  stream: Output,
  output: { color?: boolean | undefined },
  env: Deps["env"] = {},
): Style {
  const isForbidden = output.color === false || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isForbidden ? painted : plainStyle;
}

function between(start: number, end: number): (text: string) => string {
  return (text) => `\u001b[${start}m${text}\u001b[${end}m`;
}
