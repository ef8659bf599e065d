import { exitMeanings } from "../errors.js";
import { timeForms } from "../lib/times.js";
import type { CommandSpec, Example, Flag } from "./command.js";
import { globalFlags } from "./globals.js";
import { commandGroups } from "./groups.js";
import { commands } from "./index.js";

/** What the environment can say. A test sees to it that no variable of the program is left out. */
const variables: Readonly<Record<string, string>> = {
  BRANDAPI_BASE_URL: "the API's address, as --base-url",
  BRANDAPI_KEY: "the key; better is what `brandapi login` stores",
  BRANDAPI_PROFILE: "the brand to work for, as --profile",
  BRANDAPI_DB: "the mirror file, as --db",
  BRANDAPI_CONFIG_DIR: "the folder of the settings",
  BRANDAPI_RATE_LIMIT: "requests a minute for the key, as --rate-limit",
  XDG_CONFIG_HOME: "moves the settings, XDG_DATA_HOME the mirrors, XDG_STATE_HOME the rate budget",
  HTTPS_PROXY: "a proxy on the way to the API; NO_PROXY names the hosts that need none",
  NO_COLOR: "no colours",
};

const files: Readonly<Record<string, string>> = {
  "~/.config/brandapi/config.json": "base URL and key of each profile; for its owner alone",
  "~/.local/share/brandapi/PROFILE.sqlite": "the mirror of a profile",
  "~/.local/state/brandapi/rate.sqlite": "the rate budget, which all processes share",
};

/**
 * The man page, made from the registry of commands; the build writes it.
 * @param about of the package: its version and its one sentence
 * @param date of the page, YYYY-MM-DD
 */
export function manPage(
  about: { version: string; description: string },
  date: string,
  specs: readonly CommandSpec[] = commands,
): string {
  return [
    `.TH BRANDAPI 1 ${date} "brandapi ${about.version}" "User Commands"`,
    // Neither names cut in two nor blanks drawn wide.
    ".nh",
    ".ad l",
    ...section("NAME", [`brandapi \\- ${text(firstSmall(about.description))}`]),
    ...section("SYNOPSIS", [".B brandapi", ".I command", "[options]"]),
    ...section("DESCRIPTION", [
      text(
        "Data goes to stdout; progress, notes, warnings and errors to stderr. Flags go before the environment, the " +
          "environment before what the profile has stored. All times are UTC.",
      ),
    ]),
    ...Object.entries(commandGroups).flatMap(([group, names]) =>
      section(
        group.toUpperCase(),
        names.flatMap((name) => specs.filter((spec) => spec.name === name).flatMap(commandText)),
      ),
    ),
    ...section("FLAGS EVERYWHERE", globalFlags.flatMap(flagText)),
    ...section("TIMES", [text(`${timeForms}.`)]),
    ...section("EXIT STATUS", definitions(exitMeanings)),
    ...section("ENVIRONMENT", definitions(variables)),
    ...section("FILES", definitions(files)),
    "",
  ].join("\n");
}

function commandText({ name, summary, description, arguments: args, flags, notes, examples }: CommandSpec) {
  const words = args.map(({ syntax }) => ` ${syntax}`).join("");
  return [
    `.SS brandapi ${text(name + words)}`,
    text(`${summary}.`),
    ...(description ? [".PP", text(description)] : []),
    ...args.filter(({ about }) => about !== "").flatMap(({ syntax, about }) => item(syntax, about)),
    ...flags.flatMap(flagText),
    ...(notes
      ? [".PP", text(`${notes.heading}:`), ...notes.lines.flatMap((line) => item("\\(bu", line, "2"))]
      : []),
    ...(examples.length > 0 ? [".PP", "Examples:", ...examples.flatMap(exampleText)] : []),
  ];
}

function flagText({ flags, about, choices, shown }: Flag): string[] {
  const more = [
    ...(choices ? [`one of ${choices.join(", ")}`] : []),
    ...(shown ? [`default: ${shown}`] : []),
  ];
  return item(flags, more.length > 0 ? `${about} (${more.join("; ")})` : about);
}

function exampleText({ command, about }: Example): string[] {
  return [".PP", ".RS 4", ".nf", `.B ${text(command)}`, ".fi", ".RS 4", text(about), ".RE", ".RE"];
}

function definitions(all: Readonly<Record<string, string>>): string[] {
  return Object.entries(all).flatMap(([name, about]) => item(name, about));
}

function item(name: string, about: string, indent = ""): string[] {
  return [`.TP ${indent}`.trimEnd(), name.startsWith("\\(") ? name : `.B ${text(name)}`, text(about)];
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH ${text(title)}`, ...lines];
}

/** A line as roff takes it: what it would read as its own is itself. */
function text(line: string): string {
  const escaped = line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll('"', "\\(dq");
  return escaped.startsWith(".") ? `\\&${escaped}` : escaped;
}

function firstSmall(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
