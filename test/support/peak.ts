import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProcessResult, type SpawnOptions, spawnBrandapi } from "./process.js";

/** Tells, as it ends, how much memory the process has taken at most. */
const tellPeak = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from "node:fs";
   process.on("exit", () => writeFileSync(process.env.PEAK, String(process.resourceUsage().maxRSS)));`,
)}`;

/** Runs the program to its end. @returns what became of it, and the memory that it took at most, in MB */
export async function measured(
  args: readonly string[],
  options: SpawnOptions & { home: string },
): Promise<ProcessResult & { peakMb: number }> {
  const peak = join(options.home, "peak");
  const result = await spawnBrandapi(args, {
    ...options,
    env: { ...options.env, PEAK: peak },
    node: [process.execPath, "--import", tellPeak],
  }).ended;
  return { ...result, peakMb: Number(readFileSync(peak, "utf8")) / 1_024 };
}
