import { AccessForbidden, type BrandapiError, Incomplete } from "../errors.js";
import { dayMs, formatSpan } from "../lib/times.js";
import { runUnderWay } from "../mirror/index.js";
import { type ResourceHealth, readHealth } from "../query/index.js";
import { Advice, type Check, found, ok } from "./check.js";

/** A nightly run that was missed twice. Who promises an age of their own asks `status --max-age`. */
const staleMs = 2 * dayMs;

/** How the last runs ended, what `verify` found, and how old the data is. */
export const runs: Check = {
  name: "runs",
  async *run({ deps, mirror }) {
    const open = await mirror();
    const health = readHealth(open, deps.clock.now(), staleMs, await runUnderWay(open.path));
    if (health.resources.length === 0)
      throw new Advice("Nothing was synced yet.", { hint: "run `brandapi sync`" });
    const troubles = health.resources.flatMap(troublesOf);
    for (const trouble of troubles) yield found(trouble);
    const late = health.resources.filter(({ running, stale }) => stale && !running);
    const old = late.filter(({ last_success_at }) => last_success_at !== null);
    const never = late.filter(({ last_success_at }) => last_success_at === null);
    for (const [what, which] of [
      [`Last read more than ${formatSpan(staleMs)} ago`, old],
      ["Never read whole", never],
    ] as const)
      if (which.length > 0)
        yield found(
          new Advice(`${what}: ${which.map(({ resource }) => resource).join(", ")}.`, {
            hint: "run `brandapi sync`",
          }),
        );
    const running = health.resources.filter((one) => one.running).map(({ resource }) => resource);
    const now = running.length > 0 ? `; being read now: ${running.join(", ")}` : "";
    const ages = health.resources.map(({ age_seconds }) => age_seconds ?? 0);
    if (troubles.length + late.length === 0)
      yield ok(`each ended well, the oldest ${formatSpan(Math.max(...ages) * 1_000)} ago${now}`);
  },
};

function troublesOf(health: ResourceHealth): BrandapiError[] {
  const { found, last_run, last_success_at, resource, running, unfinished } = health;
  if (running) return [];
  const again = { hint: `run \`brandapi sync ${resource}\`` };
  const seen = found && withoutCommand(found.error);
  const troubles: BrandapiError[] = seen
    ? [
        new Incomplete(`${resource}: \`verify\` found: ${seen}.`, {
          hint: `run \`brandapi verify ${resource} --repair\``,
        }),
      ]
    : [];
  const { error = null, outcome = "done" } = last_run ?? {};
  if (outcome === "failed" || outcome === "incomplete")
    troubles.push(
      new Incomplete(
        `${resource}: the last run ${outcome === "failed" ? outcome : `was ${outcome}`}: ${error}`,
        again,
      ),
    );
  else if (outcome === "skipped" && last_success_at !== null)
    troubles.push(
      new AccessForbidden(`${resource}: it was read before, and is refused now: ${error}`, {
        hint: "check the key's scopes and the brand's plan",
      }),
    );
  else if (unfinished || outcome === "stopped" || outcome === "running")
    troubles.push(
      new Advice(`${resource}: the last run was stopped.`, { hint: `${again.hint}: it goes on there` }),
    );
  return troubles;
}

/** What was found, without what to do: that is the hint. */
function withoutCommand(error: string): string {
  return error.replaceAll(/: run `[^`]*`/g, "");
}
