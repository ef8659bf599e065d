import { exitCodes, Incomplete } from "../errors.js";
import { resources } from "../resources/index.js";
import { printJson } from "../ui/data.js";
import type { Verdict } from "../verify/report.js";
import { chooseResources } from "./choose.js";
import { defineCommand } from "./command.js";
import { networkFlags } from "./globals.js";

interface VerifyFlags {
  repair?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
}

export const verify = defineCommand<VerifyFlags>({
  name: "verify",
  summary: "Prove that the mirror holds what the API holds",
  description:
    "Orders and content are compared by counts, halved down to the day where they differ: a handful of requests for " +
    "the whole history. Other resources are read whole. Says what it cannot see.",
  arguments: [{ syntax: "[resource...]", about: resources.map(({ name }) => name).join(", ") }],
  flags: [
    { flags: "--repair", about: "read again what differs" },
    { flags: "--accept-removals", about: "apply removals even where they look implausible" },
    { flags: "--wait", about: "queue behind another run on this mirror" },
    ...networkFlags,
  ],
  examples: [
    { command: "brandapi verify orders", about: "compare the whole history, month by month" },
    { command: "brandapi verify --repair", about: "everything that was synced, and mend what differs" },
  ],

  async run({ deps, args, options }) {
    const chosen = chooseResources(args);
    const { withMirrorRun } = await import("./mirror-run.js");
    return await withMirrorRun(
      { deps, options, purpose: "prove", wait: options.wait ?? false },
      async (session) => {
        const { defaultOptions } = await import("../sync/context.js");
        const { verifyResource } = await import("../verify/engine.js");
        const { latestRuns } = await import("../mirror/runs.js");
        const { verdictText } = await import("./verify-text.js");
        const access = {
          ...session,
          options: { ...defaultOptions, acceptRemovals: options.acceptRemovals ?? false },
        };
        const due = chosen.named
          ? chosen.resources
          : chosen.resources.filter(({ name }) => latestRuns(session.mirror, name).lastGood);
        const verdicts: Verdict[] = [];
        for (const resource of due) {
          const verdict = await verifyResource(access, resource, options.repair ?? false);
          verdicts.push(verdict);
          if (options.json) printJson(deps.stdout, verdict);
          else deps.stdout.write(verdictText(verdict));
        }
        if (due.length === 0)
          throw new Incomplete("Nothing to compare: nothing was ever synced into this mirror.", {
            hint: "run `brandapi sync`",
          });
        judge(verdicts, options.repair ?? false);
        return exitCodes.done;
      },
    );
  },
});

/** @throws Incomplete where the verdicts, all printed by now, leave something to do: the gravest of it */
function judge(verdicts: readonly Verdict[], repaired: boolean): void {
  const namesOf = (wanted: (verdict: Verdict) => boolean | undefined) =>
    verdicts.filter(wanted).map(({ resource }) => resource);
  const different = namesOf(({ state }) => state === "different");
  if (different.length > 0)
    throw new Incomplete(`The mirror differs from the API: ${different.join(", ")}.`, {
      hint: repaired
        ? "see `brandapi status`, then run it again"
        : `run \`brandapi verify ${different.join(" ")} --repair\``,
    });
  // Unproven, and a sync is what it takes: not the figures that the API restates, which nothing could prove.
  const unread = namesOf((verdict) => verdict.unread);
  if (unread.length > 0)
    throw new Incomplete(`Never read completely, so there is nothing to compare: ${unread.join(", ")}.`, {
      hint: `run \`brandapi sync ${unread.join(" ")}\``,
    });
  const unsettled = namesOf((verdict) => verdict.unsettled);
  if (unsettled.length > 0)
    throw new Incomplete(`The API's lists never settled while they were read: ${unsettled.join(", ")}.`, {
      hint: `run \`brandapi verify ${unsettled.join(" ")}\` again later`,
    });
}
