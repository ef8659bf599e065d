import type { Command, CommanderError } from "commander";
import type { CommandLine } from "../deps.js";
import { UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { quoteShellWord } from "../util/format-text.js";
import { closestName, didYouMean, suggestName } from "../util/suggestions.js";

/** Converts a commander error to a UsageError. The hint suggests the closest valid name or the command's help. */
export function toUsageError(
  cause: CommanderError,
  program: Command,
  { argv, command: name = "" }: CommandLine,
): UsageError {
  const command = program.commands.find((each) => each.name() === name);
  const help = `see \`brandapi ${command ? `${name} ` : ""}--help\``;
  const createError = (message: string, hint = help) => new UsageError(message, { hint, cause });
  switch (cause.code) {
    case "commander.help":
      return createError("No command was specified.");
    case "commander.unknownCommand": {
      const names = program.commands.map((each) => each.name());
      return createError(
        `Unknown command: \`${name}\`.`,
        suggestCommand(name) ?? didYouMean(closestName(name, names)),
      );
    }
    case "commander.unknownOption": {
      // Take the option's name from the error message, because commander provides it nowhere else.
      const option = /'(.*)'/.exec(cause.message)?.[1] ?? "";
      if (/^--?(?:api-?)?(?:key|token)\b/i.test(option)) return createError(keyAsArgument, loginHint);
      const options = [...(command?.options ?? []), ...program.options];
      const names = options.flatMap(({ long }) => long ?? []);
      // Commander also rejects a valid option that precedes its command. For such an option, suggest nothing, because
      // the closest name would be the option itself.
      if (names.includes(option)) return createError(`Unknown option: \`${option}\`.`);
      const [flag = option] = option.split("=");
      return createError(
        `Unknown option: \`${option}\`.`,
        suggestOption(flag, name, names) ?? didYouMean(closestName(flag.replace(/^-(?=\w\w)/, "--"), names)),
      );
    }
    case "commander.missingArgument":
      return createError(extractSentence(cause), command && missingArgumentHint(command));
    case "commander.conflictingOption":
      return createError(extractSentence(cause), "omit one of them");
    case "commander.missingMandatoryOptionValue":
      return createError(extractSentence(cause), hostHint(argv));
    case "commander.excessArguments":
      if (name !== "login") return createError(extractSentence(cause), excessArgumentHint(name, argv));
      if (!argv.some((word) => /^https?:|\/api\/brand\//.test(word)))
        return createError(keyAsArgument, loginHint);
      return createError(
        "`login` does not take the address as an argument.",
        "use `--base-url`: `brandapi login --base-url URL`",
      );
    default:
      return createError(extractSentence(cause));
  }
}

const keyAsArgument =
  "The key cannot be passed as an argument, because other users could see it, and the shell would save it in its history.";
const loginHint =
  "run `brandapi login`, and paste the key at the prompt; for scripts, use `--key-file` or `--key-stdin`";

/** Returns a hint for an unknown command that is common in other programs or is the name of a resource. */
function suggestCommand(name: string): string | undefined {
  const commands: Readonly<Record<string, string>> = {
    list: "tables",
    ls: "tables",
    pull: "sync",
    repair: "verify --repair",
    restore: "backup --restore FILE",
    sql: "query",
    update: "sync",
    version: "--version",
  };
  if (resources.some((resource) => resource.name === name))
    return `\`brandapi sync ${name}\` reads the resource; \`brandapi tables\` lists the tables to export`;
  return commands[name] && `use \`brandapi ${commands[name]}\``;
}

/** Hints for options that users expect but that do not exist, keyed by option, or by command and option. */
const expectedOptions: Readonly<Record<string, string>> = {
  "-p": "use `--profile`",
  "-q": "use `--quiet`",
  "-v": "use `--verbose` for more output, or `-V` to print the version",
  "backup --list":
    "`brandapi status` prints the time and path of the last backup; backups are ordinary files in the backup folder",
  "export --table": "omit `--table`, as in `brandapi export roster --csv`",
  "sync --omit":
    "use `brandapi login --omit FIELD`, which replaces the list in the profile; then run `brandapi sync`",
  "verify --fix": "use `--repair`",
};

/**
 * Returns a hint for an option that is common in other programs.
 * @param names the command's options
 */
function suggestOption(option: string, command: string, names: readonly string[]): string | undefined {
  const hasFormats = names.includes("--csv");
  if (option === "--all" && hasFormats)
    return "name each table, as in `brandapi export orders roster -o exports/`; `brandapi tables` lists the tables";
  if (option === "--format")
    return hasFormats
      ? "use the option for the format, such as `--csv`, `--json` or `--xlsx`"
      : "use `--json`";
  return expectedOptions[`${command} ${option}`] ?? expectedOptions[option];
}

function missingArgumentHint(command: Command): string | undefined {
  const [argument] = command.registeredArguments;
  if (argument?.argChoices) return suggestName("", argument.argChoices);
  return "name a table or view; `brandapi tables` lists them";
}

/** Returns a hint for a host that was passed to `forget` as an argument, without `--host`. */
function hostHint(argv: readonly string[]): string | undefined {
  const host = argv[argv.indexOf("forget") + 1];
  if (host === undefined || host.startsWith("-")) return undefined;
  return `use \`brandapi forget --host ${quoteShellWord(host)}\``;
}

function excessArgumentHint(command: string, argv: readonly string[]): string | undefined {
  if (command === "query") return statementHint(argv);
  if (command !== "report") return undefined;
  const month = argv.find((word) => /^(?:\d{4}-\d\d|(?:this|last)-month)$/.test(word)) ?? "2026-10";
  return `use a command such as \`brandapi report --month ${month}\``;
}

function statementHint(argv: readonly string[]): string {
  return argv.some((word) => /[‘’“”]/.test(word))
    ? 'put the statement in straight quotes (`"`), not in curly quotes (`“”`)'
    : "put the statement in quotes";
}

/** Returns commander's message as a sentence, with names in backticks. */
function extractSentence({ message }: CommanderError): string {
  const text = message.replace(/^error: /, "").replaceAll("'", "`");
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
