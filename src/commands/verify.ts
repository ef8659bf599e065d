import { Command } from "commander";
import { Incomplete } from "../errors.js";
import { resources } from "../resources/index.js";
import { printJson } from "../ui/print.js";
import type { FullVerdict } from "../verify/engine.js";
import type { Context, GlobalOptions } from "./context.js";
import { evidenceText } from "./evidence-text.js";
import { chooseResources, maxWait, rateLimit, wait } from "./flags.js";
import { examples } from "./help.js";
import { blindText, verdictText } from "./verdict-text.js";

interface VerifyFlags extends GlobalOptions {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
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
    .option("--accept-removals", "apply removals even where they look implausible")
    .addOption(wait())
    .addOption(rateLimit())
    .addOption(maxWait())
    .addHelpText(
      "after",
      examples(
        ["brandapi verify orders", "compare the whole history, month by month"],
        ["brandapi verify orders --evidence", "the same, with the lines that repeat it by hand"],
        ["brandapi verify --repair", "everything that was synced, and mend what differs"],
      ),
    )
    .action((names: string[], _, command: Command) => runVerify(names, command.optsWithGlobals(), context));
}

async function runVerify(names: readonly string[], options: VerifyFlags, { deps }: Context): Promise<void> {
  const chosen = chooseResources(names);
  const { withMirrorRun } = await import("./session.js");
  await withMirrorRun(
    { deps, options, purpose: "prove", wait: options.wait ?? false, command: "verify" },
    async (session) => {
      const { defaultOptions } = await import("../sync/run.js");
      const { workThrough } = await import("../sync/resources.js");
      const { verifyResource } = await import("../verify/engine.js");
      const { failureOf } = await import("./failed-resources.js");
      const { wasRead } = await import("../mirror/index.js");
      const access = {
        ...session,
        options: { ...defaultOptions, acceptRemovals: options.acceptRemovals ?? false },
      };
      const due = chosen.named
        ? chosen.resources
        : chosen.resources.filter(({ name }) => wasRead(session.mirror, name));
      const verdicts: FullVerdict[] = [];
      const repair = options.repair ?? false;
      access.reporter.expect(due.map(({ name }) => ({ name, requests: undefined })));
      const ended = await workThrough(access, { due, named: chosen.named }, async (resource) => {
        const verdict = await verifyResource(access, resource, repair);
        verdicts.push(verdict);
        const evidence = options.evidence ? verdict.claims?.() : undefined;
        if (options.json) printJson(deps.stdout, { ...verdict, claims: undefined, evidence });
        else deps.stdout.write(`${verdictText(verdict)}${evidence ? evidenceText(evidence) : ""}`);
      });
      if (!options.json && verdicts.length > 0) deps.stdout.write(blindText(verdicts));
      if (due.length === 0)
        throw new Incomplete("Nothing to compare: nothing was ever synced into this mirror.", {
          hint: "run `brandapi sync`",
        });
      judge(verdicts, repair);
      const words = { failed: "were not proven", left: "Not compared", hint: "run the same command again" };
      const failure = failureOf(ended, due.length, words);
      if (failure !== undefined) throw failure;
    },
  );
}

/** @throws Incomplete if the verdicts, all printed by now, leave something to do: the worst of it */
function judge(verdicts: readonly FullVerdict[], repaired: boolean): void {
  const namesOf = (is: (verdict: FullVerdict) => boolean | undefined) =>
    verdicts.filter(is).map(({ resource }) => resource);
  const refuse = (names: readonly string[], text: string, hint: string) => {
    if (names.length > 0) throw new Incomplete(`${text}.`, { hint: hint.replace("…", names.join(" ")) });
  };
  const different = namesOf(({ state }) => state === "different");
  const records = namesOf(({ months }) => months.some(({ state }) => state === "different"));
  const tables = namesOf((verdict) => verdict.tables.state === "different");
  const repair = repaired ? "see `brandapi status`, then run it again" : "run `brandapi verify … --repair`";
  refuse(different, differing(records, tables), repair);
  const never = namesOf((verdict) => verdict.never_read);
  const sync = "run `brandapi sync …`";
  refuse(never, `Never read completely, so there is nothing to compare: ${never.join(", ")}`, sync);
  const unread = namesOf((verdict) => (verdict.unread ?? 0) > 0);
  refuse(unread, `The API has records that were not read yet: ${unread.join(", ")}`, sync);
  const unsettled = namesOf((verdict) => verdict.unsettled);
  const text = `The API's lists never settled while they were read: ${unsettled.join(", ")}`;
  refuse(unsettled, text, "run `brandapi verify …` again later");
}

function differing(records: readonly string[], tables: readonly string[]): string {
  const inTables = `tables differ from its records: ${tables.join(", ")}`;
  if (records.length === 0) return `The mirror's ${inTables}`;
  return `The mirror differs from the API: ${records.join(", ")}${tables.length === 0 ? "" : `; its ${inTables}`}`;
}
