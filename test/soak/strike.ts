import { type Brand, measure, type Scenario, type StrikeOptions } from "./brand.js";
import { draws } from "./draws.js";

export interface Report {
  /** Strikes that landed, by what they were. */
  landed: Record<string, number>;
  /** Tries at which the process had ended before. */
  missed: number;
  /** What was lost, half there, or told and not true: none, for a sound program. */
  lost: string[];
}

/** One strike: at which run, how long after its work began, and the draws that decide the rest. */
export interface Point {
  scenario: Scenario;
  afterMs: number;
  random: () => number;
}

/**
 * Strikes real processes at random instants of their work, and leaves the brand as it was.
 * @param once strikes one, looks at what is left, and notes it; false: it came too late
 */
export async function strike(
  brand: Brand,
  options: StrikeOptions,
  scenarios: readonly Scenario[],
  once: (brand: Brand, point: Point, report: Report) => Promise<boolean>,
): Promise<Report> {
  const report: Report = { landed: {}, missed: 0, lost: [] };
  const random = draws(options.seed);
  const lengths = new Map<string, number>();
  let tries = 0;
  while (total(report) < options.points && tries < options.points * 4 + 20) {
    const scenario = scenarios[tries % scenarios.length] as Scenario;
    tries += 1;
    const workMs = lengths.get(scenario.name) ?? options.guessMs ?? (await measure(brand, scenario));
    const landed = await once(brand, { scenario, afterMs: random() * workMs, random }, report);
    // One that came too late says that the work is shorter than was thought.
    lengths.set(scenario.name, landed ? workMs : workMs * 0.8);
    if (tries % 25 === 0) options.say(`${total(report)} landed, ${report.lost.length} lost`);
  }
  return report;
}

export const total = ({ landed }: Report) => Object.values(landed).reduce((sum, count) => sum + count, 0);
