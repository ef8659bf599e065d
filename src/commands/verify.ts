import { Command } from "commander";
import { Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { minuteOf } from "../lib/times.js";
import { resources } from "../resources/index.js";
import { formatCount } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import type { FullVerdict } from "../verify/engine.js";
import type { MonthResult } from "../verify/report.js";
import type { Context, GlobalOptions } from "./context.js";
import { evidenceText } from "./evidence-text.js";
import { chooseResources, maxWait, rateLimit, wait } from "./flags.js";
import { examples } from "./help.js";

interface VerifyFlags extends GlobalOptions {
  repair?: boolean;
  evidence?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
}

export function verify(context: Context): Command {
  return new Command("verify")
    .summary("Prove that the mirror holds what the API holds")
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

/** @throws Incomplete where the verdicts, all printed by now, leave something to do: the gravest of it */
function judge(verdicts: readonly FullVerdict[], repaired: boolean): void {
  const namesOf = (wanted: (verdict: FullVerdict) => boolean | undefined) =>
    verdicts.filter(wanted).map(({ resource }) => resource);
  const different = namesOf(({ state }) => state === "different");
  const records = namesOf(({ months }) => months.some(({ state }) => state === "different"));
  const tables = namesOf((verdict) => verdict.tables.state === "different");
  if (different.length > 0)
    throw new Incomplete(`${differing(records, tables)}.`, {
      hint: repaired
        ? "see `brandapi status`, then run it again"
        : `run \`brandapi verify ${different.join(" ")} --repair\``,
    });
  // Unproven, and a sync is what it takes: not the figures that the API restates, which nothing could prove.
  const never = namesOf((verdict) => verdict.never_read);
  if (never.length > 0)
    throw new Incomplete(`Never read completely, so there is nothing to compare: ${never.join(", ")}.`, {
      hint: `run \`brandapi sync ${never.join(" ")}\``,
    });
  const unread = namesOf(({ unread }) => (unread ?? 0) > 0);
  if (unread.length > 0)
    throw new Incomplete(`The API has records that were not read yet: ${unread.join(", ")}.`, {
      hint: `run \`brandapi sync ${unread.join(" ")}\``,
    });
  const unsettled = namesOf((verdict) => verdict.unsettled);
  if (unsettled.length > 0)
    throw new Incomplete(`The API's lists never settled while they were read: ${unsettled.join(", ")}.`, {
      hint: `run \`brandapi verify ${unsettled.join(" ")}\` again later`,
    });
}

function differing(records: readonly string[], tables: readonly string[]): string {
  const inTables = `tables differ from its records: ${tables.join(", ")}`;
  if (records.length === 0) return `The mirror's ${inTables}`;
  return `The mirror differs from the API: ${records.join(", ")}${tables.length === 0 ? "" : `; its ${inTables}`}`;
}

/** A verdict as a person reads it: months of one state on one line, what differs spelled out. */
function verdictText(verdict: FullVerdict): string {
  const { api_total: api, mended, mirror_total: here, requests, resource } = verdict;
  const totals =
    api === null || here === null ? "" : `, ${formatCount(api)} in the API and ${formatCount(here)} here`;
  const head = `${resource}: ${verdict.state}${totals} (${counted(requests, "request")})`;
  const repair = mended
    ? [
        `  mended: ${mended.rows_new} new, ${mended.rows_changed} changed, ${mended.rows_removed} removed: \`brandapi changes ${resource} --run ${mended.run_id}\``,
      ]
    : [];
  const lines = grouped(verdict.months).map(({ first, last, state, why, readAt }) => {
    const months = first === last ? first : `${first} to ${last}`;
    return `  ${months}: ${state}: ${why}${readAt ? `; read since ${minuteOf(readAt)}` : ""}`;
  });
  const { differences, state } = verdict.tables;
  const tables = differences.map(({ table, why }) => `  table ${table}: ${state}: ${why}`);
  return `${[head, ...repair, ...lines, ...tables].join("\n")}\n`;
}

/** What a proof cannot see: each thing once, with those that it is true of. */
function blindText(verdicts: readonly FullVerdict[]): string {
  const spots = verdicts.filter(({ blind_spot }) => blind_spot !== "" && !blind_spot.startsWith("nothing"));
  const texts = [...new Set(spots.map(({ blind_spot }) => blind_spot))].map((text) => {
    const names = spots.filter(({ blind_spot }) => blind_spot === text).map(({ resource }) => resource);
    return `${names.join(", ")}: ${text}`;
  });
  return texts.length === 0 ? "" : `cannot see: ${texts.join("; ")}\n`;
}

interface Group {
  first: string;
  last: string;
  state: MonthResult["state"];
  why: string;
  readAt: string | null;
}

function grouped(months: readonly MonthResult[]): Group[] {
  return months.reduce<Group[]>((groups, { month, state, why, read_at }) => {
    const last = groups.at(-1);
    if (last && last.state === state && last.why === why) {
      last.last = month;
      if (read_at !== null && (last.readAt === null || read_at < last.readAt)) last.readAt = read_at;
    } else groups.push({ first: month, last: month, state, why, readAt: read_at });
    return groups;
  }, []);
}
