import { Command } from "commander";
import { ChecksFailed } from "../errors.js";
import { printJson } from "../ui/print.js";
import { escapeText } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { hintFor } from "./errors.js";
import { maxWait, rateLimit } from "./flags.js";
import { examples } from "./help.js";

export function doctor(context: Context): Command {
  return new Command("doctor")
    .summary("Check this machine, the settings, the key, the mirror and its tables")
    .description(
      "Each line is `ok`, or `!` with the command that mends it; `?` is what could not be checked. Writes nothing, and " +
        "sends one request. The exit code is that of the first check that failed; a warning fails nothing.",
    )
    .addOption(rateLimit())
    .addOption(maxWait("5s"))
    .addHelpText(
      "after",
      examples(
        ["brandapi doctor", "is everything as it should be?"],
        ["brandapi doctor --quiet", "only the lines that are not ok"],
        ["brandapi doctor --json | jq 'select(.state != \"ok\")'", "the same for a script"],
      ),
    )
    .action((_, command: Command) => runDoctor(command.optsWithGlobals(), context));
}

const marks = { ok: "ok", warning: "! ", failed: "! ", unchecked: "? " } as const;

async function runDoctor(options: GlobalOptions, { deps }: Context): Promise<void> {
  const { examine } = await import("./doctor-checks.js");
  const { styleFor } = await import("../ui/style.js");
  const style = styleFor(deps.stdout, { color: options.color !== false }, deps.env);
  const paint = { ok: style.green, warning: style.yellow, failed: style.red, unchecked: style.dim };
  const argv = (["profile", "db"] as const).flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, options[name]],
  );
  const failed = [];
  for await (const { hint, ...line } of examine(options, deps)) {
    const { check, state, text } = line;
    if (state === "failed") failed.push(line);
    if (options.quiet && state === "ok") continue;
    const mends = hint && hintFor(hint, argv);
    if (options.json) printJson(deps.stdout, { ...line, hint: mends });
    else {
      const advice = mends ? `\n     ${escapeText(mends)}` : "";
      deps.stdout.write(`${paint[state](marks[state])} ${check}: ${escapeText(text)}${advice}\n`);
    }
  }
  const [first] = failed;
  if (first)
    throw new ChecksFailed(
      `Not everything is as it should be: ${failed.map(({ check }) => check).join(", ")}.`,
      first.exit_code,
      { hint: "each line that begins with `!` says what mends it" },
    );
}
