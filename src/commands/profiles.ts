import { Command } from "commander";
import { counted } from "../lib/counted.js";
import { formatSpan } from "../lib/times.js";
import { printJson } from "../ui/print.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { terminalWidth } from "../ui/width.js";
import type { Brand } from "./brands.js";
import type { Context, GlobalOptions } from "./context.js";
import { examples } from "./help.js";

export function profiles(context: Context): Command {
  return new Command("profiles")
    .summary("List the brands that are set up on this machine")
    .description(
      "Lists each profile's mirror, the age of its oldest data, and the days its key has left. " +
        "Needs no key and no network.",
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi profiles", "the brands, and whose key expires soon"],
        ["brandapi profiles --json | jq '.[] | select(.key.days_left < 30)'", "for scripts"],
      ),
    )
    .action((_, command: Command) => runProfiles(command.optsWithGlobals(), context));
}

async function runProfiles(options: GlobalOptions, { deps }: Context): Promise<void> {
  const { readOutput } = await import("../config/settings.js");
  const { styleFor } = await import("../ui/style.js");
  const { lookAtBrands } = await import("./brands.js");
  const brands = await lookAtBrands(deps);
  const output = readOutput(options);
  if (output.json) printJson(deps.stdout, brands);
  else if (brands.length === 0) deps.stderr.write("No brand is set up here yet: run `brandapi login`.\n");
  else {
    const width = terminalWidth(deps.stdout);
    const style = styleFor(deps.stdout, output, deps.env);
    const lines = [
      renderTable(["profile", "brand", "mirror", "age", "key"], brands.map(cells), { width, style }),
      ...brands.flatMap(({ profile, error }) =>
        error === null ? [] : [`${style.yellow("!")} ${profile}: ${escapeText(error)}`],
      ),
    ];
    deps.stdout.write(`${lines.join("\n")}\n`);
  }
}

function cells({ profile, brand, mirror, age_seconds, key, error }: Brand): string[] {
  const age = age_seconds === null ? "never synced" : formatSpan(age_seconds * 1_000);
  return [profile, brand?.name ?? "unknown", mirror, error === null ? age : "unknown", keyText(key)];
}

function keyText({ stored, days_left }: Brand["key"]): string {
  if (days_left === null) return stored ? "unknown" : "none stored";
  const left = days_left < 0 ? "expired" : `${counted(days_left, "day")} left`;
  return stored ? left : `${left}, not stored`;
}
