import { minuteOf } from "../lib/times.js";
import type { Health, ResourceHealth, ShownRange } from "../query/index.js";
import { escapeText } from "../ui/text.js";

/** Returns what of a mirror's health needs a word, one line each. */
export function marksOf({ failed_run: failed, resources }: Health): string[] {
  const whole = failed
    ? [`the last ${failed.command}, ${minuteOf(failed.at)}, read nothing: ${escapeText(failed.error)}`]
    : [];
  return [...whole, ...resources.flatMap(marksOfResource)];
}

/** Returns why something is stale: its marks, and the run that is under way. */
export function reasonsOf(health: Health, running: string | null): string[] {
  const stale = health.resources.filter((one) => one.stale);
  const marks = marksOf({ ...health, resources: stale.map((one) => ({ ...one, stale: false })) });
  return running === null ? marks : [running, ...marks];
}

function marksOfResource(health: ResourceHealth): string[] {
  const { resource, found, gaps, last_run, running, stale } = health;
  return [
    ...(running ? [`${resource}: being read since ${minuteOf(running.started_at)}`] : []),
    ...gaps.map((gap) => `${resource}: not read: ${gapText(gap)}`),
    // An incomplete sync since then says what is still open: its word stands.
    ...(found && found.at !== last_run?.started_at && last_run?.outcome !== "incomplete"
      ? [`${resource}: \`verify\` found: ${escapeText(found.error)}`]
      : []),
    ...(last_run?.error ? [`${resource}: the last ${endText(last_run)}`] : []),
    ...(stale ? [`${resource}: older than allowed`] : []),
  ];
}

/** Returns how a run ended that did not end well. */
function endText({ outcome, error }: NonNullable<ResourceHealth["last_run"]>): string {
  if (outcome === "stopped") return "run was stopped";
  if (outcome === "verified") return `\`verify\`: ${escapeText(error ?? "")}`;
  const verb = outcome === "failed" ? "failed" : `was ${outcome}`;
  return `run ${verb}: ${escapeText(error ?? "")}`;
}

function gapText({ from, to }: ShownRange): string {
  return `${from === null ? "the start" : minuteOf(from)} to ${minuteOf(to)}`;
}
