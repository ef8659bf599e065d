import type { Measured } from "./measure.js";

/** One line of the result: ratios first. */
export interface Line {
  what: string;
  /** To what the ratio is; the goal is said there too. */
  ratio?: number;
  to?: string;
  goal?: string;
  measured?: Measured | undefined;
  note?: string;
}

const head = ["measured", "ratio", "to", "goal", "time", "CPU", "peak memory", "note"];

/** A Markdown table. */
export function toMarkdown(lines: readonly Line[]): string {
  const rows = lines.map(({ what, ratio, to, goal, measured, note }) => [
    what,
    ratio === undefined ? "" : ratio.toFixed(2),
    to ?? "",
    goal ?? "",
    measured ? duration(measured.wallMs) : "",
    measured && measured.cpuMs > 0 ? duration(measured.cpuMs) : "",
    measured && measured.peakMb > 0 ? `${measured.peakMb.toFixed(0)} MB` : "",
    note ?? "",
  ]);
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Times and processor times side by side against the same floor: on a busy machine the latter is the steadier. */
export function compared(
  what: string,
  own: Measured,
  floor: Measured,
  rest: { to: string; goal?: string; note?: string },
): Line {
  const cpu = own.cpuMs / floor.cpuMs;
  const note = [Number.isFinite(cpu) && own.cpuMs > 0 ? `CPU ratio ${cpu.toFixed(2)}` : "", rest.note ?? ""]
    .filter((text) => text !== "")
    .join("; ");
  return { what, ratio: own.wallMs / floor.wallMs, measured: own, ...rest, note };
}

export function duration(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}
