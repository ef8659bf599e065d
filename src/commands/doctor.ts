import { existsSync } from "node:fs";
import { Command } from "commander";
import { findFolders } from "../config/folders.js";
import type { Deps, Fetch } from "../deps.js";
import type { Examined, Me } from "../doctor/check.js";
import type { Line } from "../doctor/examine.js";
import { ChecksFailed } from "../errors.js";
import type { Mirror } from "../mirror/index.js";
import { printJson } from "../ui/data.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { hintFor } from "./errors.js";
import { maxWait, rateLimit } from "./flags.js";
import { examples, notes } from "./help.js";

/** Somebody waits, and a dead network is one of the answers. */
const maxWaitMs = 5_000;

export function doctor(context: Context): Command {
  return new Command("doctor")
    .summary("Check this machine, the settings, the key, the mirror and its tables")
    .description(
      "Each line is `ok`, or `!` with the command that mends it; `?` is what could not be checked, without a network " +
        "for one. Writes nothing, and sends one request.",
    )
    .addOption(rateLimit())
    .addOption(maxWait("5s"))
    .addHelpText(
      "after",
      notes("Exit code", [
        "0 where nothing failed; a warning, such as a key that expires soon, is marked `!` too and fails nothing",
        "else what the first line that failed stands for: 3 this machine, its settings or the mirror's file, 4 the key, " +
          "5 its scopes, 6 the API cannot be reached, 8 tables that differ, or a run that failed",
        "a mirror whose records themselves were edited is not told from the API's truth here: `brandapi verify` asks the API",
      ]),
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi doctor", "is everything as it should be?"],
        ["brandapi doctor --quiet", "only what needs a hand"],
        ["brandapi doctor --json | jq 'select(.state != \"ok\")'", "the same for a script"],
      ),
    )
    .action((_, command: Command) => runDoctor(command.optsWithGlobals(), context));
}

async function runDoctor(options: GlobalOptions, { deps }: Context): Promise<void> {
  const { checks } = await import("../doctor/index.js");
  const { examine } = await import("../doctor/examine.js");
  const { createReporter } = await import("../ui/reporter.js");
  const reporter = createReporter(deps, options);
  const closers: (() => void)[] = [() => reporter.close()];
  const argv = (["profile", "db"] as const).flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, options[name]],
  );
  const print = await printer(deps, options, Math.max(...checks.map(({ name }) => name.length)));
  const failed: Line[] = [];
  try {
    for await (const line of examine(checks, lookAt(deps, options, reporter, closers))) {
      if (line.state === "failed") failed.push(line);
      print({ ...line, hint: line.hint && hintFor(line.hint, argv) });
    }
  } finally {
    for (const close of closers.reverse()) close();
  }
  const [first] = failed;
  if (!first) return;
  const names = [...new Set(failed.map(({ check }) => check))].join(", ");
  throw new ChecksFailed(`Not everything is as it should be: ${names}.`, first.exit_code, {
    hint: "each line that begins with `!` says what mends it",
  });
}

/** What the checks look at: made when the first of them asks, closed by `closers`. */
function lookAt(
  deps: Deps,
  options: GlobalOptions,
  reporter: Parameters<typeof import("./access.js").openApiWith>[2],
  closers: (() => void)[],
): Examined {
  let offset: number | null = null;
  const fetch: Fetch = async (url, init) => {
    const answer = await deps.fetch(url, init);
    const date = Date.parse(answer.headers.get("date") ?? "");
    if (!Number.isNaN(date)) offset = date - deps.clock.now();
    return answer;
  };
  const settings = once(async () => {
    const { readSettings } = await import("../config/settings.js");
    return await readSettings(options, deps, { maxWaitMs });
  });
  const dbPath = once(async () => {
    const { chooseMirror, chooseProfile } = await import("../config/settings.js");
    const { readProfiles } = await import("../config/profiles.js");
    const name = chooseProfile(options, deps.env);
    const profiles = await readProfiles(findFolders(deps).config, { mending: true });
    return chooseMirror(options, deps, name, profiles.get(name) ?? {});
  });
  const mirror = once(async () => {
    const open = await openMirror(await dbPath());
    closers.push(() => open.db.close());
    return open;
  });
  const me = once(async (): Promise<Me> => {
    const { requireAccess } = await import("../config/settings.js");
    const { openApiWith } = await import("./access.js");
    const { readIdentity } = await import("./identity.js");
    const known = await settings();
    const api = await openApiWith({ ...known, ...requireAccess(known) }, { ...deps, fetch }, reporter);
    closers.push(() => api.close());
    const asked = deps.clock.monotonic();
    const identity = await readIdentity(api);
    return { ...identity, tookMs: deps.clock.monotonic() - asked };
  });
  return { deps, options, settings, dbPath, mirror, me, clockOffset: () => offset };
}

/** Unlike other commands this one brings no mirror up to date: it only looks. */
async function openMirror(path: string): Promise<Mirror> {
  const { Advice } = await import("../doctor/check.js");
  const { schemaVersion } = await import("../mirror/index.js");
  const { openMirrorOrNone } = await import("../query/index.js");
  const { isOfOtherShape } = await import("../records/index.js");
  if (!existsSync(path))
    throw new Advice(`There is no mirror yet: ${path}.`, {
      hint: "run `brandapi sync`, or `brandapi demo` without a key",
    });
  const open = await openMirrorOrNone(path);
  if (schemaVersion(open) === "current" && !isOfOtherShape(open)) return open;
  open.db.close();
  throw new Advice(`The mirror is empty, or of an older version of brandapi: ${path}.`, {
    hint: "run `brandapi status`: it is brought up to date from what it holds",
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const marks = { ok: "ok", warning: "!", failed: "!", unchecked: "?" } as const;

/** Prints a line as soon as it is known; with `--quiet` those alone that are not ok. */
async function printer(
  deps: Deps,
  options: GlobalOptions,
  longestName: number,
): Promise<(line: Line) => void> {
  const { renderFacts } = await import("../ui/facts.js");
  const { styleFor } = await import("../ui/style.js");
  const style = styleFor(deps.stdout, { color: options.color !== false }, deps.env);
  const plain = styleFor(deps.stdout, { color: false });
  const paint = { ok: style.green, warning: style.yellow, failed: style.red, unchecked: style.dim };
  const width = terminalWidth(deps.stdout);
  return (line) => {
    const { check, hint, state, text } = line;
    if (options.quiet && state === "ok") return;
    if (options.json) return printJson(deps.stdout, line);
    const mark = marks[state];
    const label = `${mark.padEnd(2)} ${check.padEnd(longestName)}`;
    const told =
      hint === null ? text : `${stopped(text)} ${hint.charAt(0).toUpperCase()}${stopped(hint.slice(1))}`;
    const fact = renderFacts([[label, told]], { style: plain, width });
    deps.stdout.write(`${paint[state](mark)}${fact.slice(mark.length)}\n`);
  };
}

/** With a full stop at its end. */
function stopped(text: string): string {
  return `${text.replace(/\.$/, "")}.`;
}
