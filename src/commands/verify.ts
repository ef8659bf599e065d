import { Command, Option } from "commander";
import { Incomplete } from "../errors.js";
import { wasRead } from "../mirror/index.js";
import { resources } from "../resources/index.js";
import { workThrough } from "../sync/resources.js";
import { defaultOptions } from "../sync/run.js";
import { printJson } from "../ui/print.js";
import { type FullVerdict, verifyResource } from "../verify/engine.js";
import type { Context, GlobalOptions } from "./context.js";
import { verifyLake } from "./delta.js";
import { evidenceText } from "./evidence-text.js";
import { refuseFailures } from "./failed-resources.js";
import { chooseResources, wait } from "./flags.js";
import { examples } from "./help.js";
import { withMirrorRun } from "./session.js";
import { blindText, verdictText } from "./verdict-text.js";

interface VerifyFlags extends GlobalOptions {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  delta?: string;
}

export function define(context: Context): Command {
  return new Command("verify")
    .description(
      "Orders and content are compared by counts, halved down to the day where they differ: a handful of requests for " +
        "the whole history. Other resources are read whole. The tables that you query are compared with the records " +
        "that they are made from. Says what it cannot see.",
    )
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--repair", "read again what differs, and make tables that differ anew from the records")
    .option("--evidence", "each number of the proof, with the request and the SQL that print it")
    .addOption(
      new Option(
        "--delta <folder>",
        "whether a lake holds what the mirror holds; no request is made",
      ).conflicts(["repair", "evidence", "acceptRemovals"]),
    )
    .option("--accept-removals", "apply removals even where they look implausible")
    .addOption(wait())
    .addHelpText(
      "after",
      examples(
        ["brandapi verify orders", "compare the whole history, month by month"],
        ["brandapi verify orders --evidence", "the same, with the lines that repeat it by hand"],
        ["brandapi verify --repair", "everything that was synced, and mend what differs"],
      ),
    )
    .action((names: string[], _, own: Command) => {
      const options: VerifyFlags = own.optsWithGlobals();
      return options.delta === undefined
        ? runVerify(names, options, context)
        : verifyLake(names, options, context);
    });
}

async function runVerify(names: readonly string[], options: VerifyFlags, { deps }: Context): Promise<void> {
  const { resources: chosen, named } = chooseResources(names);
  const { acceptRemovals = false, evidence = false, json = false, repair = false, wait = false } = options;
  const run = { deps, options, purpose: "prove", wait, command: "verify" } as const;
  await withMirrorRun(run, async (session) => {
    const access = { ...session, options: { ...defaultOptions, acceptRemovals } };
    const due = named ? chosen : chosen.filter(({ name }) => wasRead(session.mirror, name));
    if (due.length === 0)
      throw new Incomplete("Nothing to compare: nothing was ever synced into this mirror.", {
        hint: "run `brandapi sync`",
      });
    access.reporter.expect(due.map(({ name }) => ({ name, requests: undefined })));
    const verdicts: FullVerdict[] = [];
    const ended = await workThrough(access, { due, named }, async (resource) => {
      const { claims, ...verdict } = await verifyResource(access, resource, repair);
      verdicts.push(verdict);
      const shown = evidence ? claims?.() : undefined;
      if (json) printJson(deps.stdout, { ...verdict, evidence: shown });
      else deps.stdout.write(`${verdictText(verdict)}${shown ? evidenceText(shown) : ""}`);
    });
    if (!json) deps.stdout.write(blindText(verdicts));
    refuseFailures(ended, due.length);
    judge(verdicts, repair);
  });
}

/** @throws Incomplete if the verdicts, all printed by now, leave something to do: the worst of it */
function judge(verdicts: readonly FullVerdict[], repaired: boolean): void {
  const refuse = (is: (verdict: FullVerdict) => boolean | undefined, text: string, hint: string) => {
    const names = verdicts.filter(is).map(({ resource }) => resource);
    if (names.length > 0)
      throw new Incomplete(`${text}: ${names.join(", ")}.`, { hint: hint.replace("…", names.join(" ")) });
  };
  const repair = repaired ? "see `brandapi status`, then run it again" : "run `brandapi verify … --repair`";
  const differs = ({ months }: FullVerdict) => months.some(({ state }) => state === "different");
  refuse(differs, "The mirror differs from the API", repair);
  refuse(({ state }) => state === "different", "The mirror's tables differ from its records", repair);
  const sync = "run `brandapi sync …`";
  refuse(({ unread = 0 }) => unread > 0, "The API has records that were not read yet", sync);
  const later = "run `brandapi verify …` again later";
  refuse(({ unsettled }) => unsettled, "The API's lists never settled while they were read", later);
}
