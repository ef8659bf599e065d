import type { Measured } from "./measure.js";

export interface Line {
  what: string;
  ratio?: number;
  to?: string;
  goal?: string;
  measured?: Measured | undefined;
  note?: string;
}

const head = ["measured", "ratio", "to", "goal", "time", "CPU", "peak memory", "note"];

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

/** Compares two runs by elapsed time and by CPU time. CPU time is less sensitive to other load on the machine. */
export function compared(
  what: string,
  own: Measured,
  other: Measured,
  rest: { to: string; goal?: string },
): Line {
  const note = own.cpuMs > 0 && other.cpuMs > 0 ? `CPU ratio ${(own.cpuMs / other.cpuMs).toFixed(2)}` : "";
  return { what, ratio: own.wallMs / other.wallMs, measured: own, ...rest, note };
}

function duration(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}
