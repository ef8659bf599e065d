import { type Command, Option } from "commander";
import { Incomplete, UsageError } from "../errors.js";
import { wasRead } from "../mirror/index.js";
import { resources } from "../resources/index.js";
import { workThrough } from "../sync/resources.js";
import { defaultOptions } from "../sync/run.js";
import { printJson } from "../ui/print.js";
import { type FullVerdict, verifyResource } from "../verify/engine.js";
import type { Context, GlobalOptions } from "./context.js";
import { verifyLake } from "./delta.js";
import { refuseFailures } from "./failed-resources.js";
import { chooseResources, wait } from "./flags.js";
import { withMirrorRun } from "./session.js";
import { evidenceText, verdictText } from "./verdict-text.js";

interface VerifyFlags extends GlobalOptions {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  delta?: string;
}

export const about =
  "Orders and content are compared by counts, halved down to the day where they differ: a handful of requests for " +
  "the whole history. Other resources are read whole. The tables that you query are compared with the records " +
  "that they are made from. Says what it cannot see.";

export const examples = {
  "brandapi verify orders": "compare the whole history, month by month",
  "brandapi verify orders --evidence": "the same, with the lines that repeat it by hand",
  "brandapi verify --repair": "everything that was synced, and mend what differs",
};

export function define(command: Command): void {
  const delta = new Option(
    "--delta <folder>",
    "whether a lake holds what the mirror holds, by the footers of its files",
  );
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--repair", "read again what differs, and make tables that differ anew from the records")
    .option("--evidence", "each number of the proof, with the request and the SQL that print it")
    .addOption(delta.conflicts(["repair", "evidence", "acceptRemovals"]))
    .option("--accept-removals", "apply removals even where they look implausible")
    .addOption(wait);
}

export async function run(options: VerifyFlags, context: Context, names: readonly string[]): Promise<void> {
  if (options.delta !== undefined) return await verifyLake(names, options, context);
  const { deps } = context;
  if (options.acceptRemovals && !options.repair)
    throw new UsageError("`--accept-removals` is for `--repair`.", {
      hint: "add `--repair`, or leave it out",
    });
  const { resources: chosen, named } = chooseResources(names);
  const { acceptRemovals = false, evidence = false, json = false, repair = false } = options;
  await withMirrorRun({ deps, options, purpose: "prove", command: "verify" }, async (session) => {
    const access = { ...session, options: { ...defaultOptions, acceptRemovals } };
    const due = named ? chosen : chosen.filter(({ name }) => wasRead(session.mirror, name));
    if (due.length === 0)
      throw new Incomplete("Nothing to compare: nothing was ever synced into this mirror.", {
        hint: "run `brandapi sync`",
      });
    access.reporter.expect(due.map(({ name }) => ({ name, requests: undefined })));
    const wrong: FullVerdict[] = [];
    const ended = await workThrough(access, { due, named }, async (resource) => {
      const { verdict: all, error } = await verifyResource(access, resource, repair);
      const { claims, ...verdict } = all;
      if (verdict.found.length > 0) wrong.push(verdict);
      const shown = evidence ? claims?.() : undefined;
      if (json) printJson(deps.stdout, { ...verdict, evidence: shown });
      else deps.stdout.write(`${verdictText(verdict)}${shown ? evidenceText(shown) : ""}`);
      if (error !== null) throw error;
    });
    refuseFailures(ended, due.length);
    if (wrong.length === 0) return;
    const verify = `brandapi verify ${wrong.map(({ resource }) => resource).join(" ")}`;
    const isMendable = wrong.some(({ state, unread = 0 }) => state === "different" || unread > 0);
    const later = wrong.every(hasOddDates)
      ? "the API has to correct these dates; until then all records are kept, and this part cannot be verified"
      : `run \`${verify}\` again later`;
    throw new Incomplete(`Found: ${wrong.flatMap(({ found }) => found).join("; ")}.`, {
      hint: isMendable && !repair ? `run \`${verify} --repair\`` : later,
    });
  });
}

/** True if only dates that are unreadable or outside the requested ones keep a resource from being verified. */
function hasOddDates({ found, months }: FullVerdict): boolean {
  return found.length === 1 && months.at(-1)?.month === "dates";
}
