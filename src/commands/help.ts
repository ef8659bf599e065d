import { Command, Help } from "commander";
import type { Deps } from "../deps.js";
import { durationForms, timeForms } from "../lib/times.js";

/** An example of a command's help: the command line, and what it is for. */
export type Example = readonly [command: string, about: string];

/** The examples of a command's help. A command line stays on one line, so that it can be copied. */
export function examples(...all: readonly Example[]) {
  return ({ command }: { command: Command }): string => {
    const lines = all.map(([line, about]) => `  $ ${line}\n${wrapped(command, about, "      ")}`);
    return `\nExamples:\n${lines.join("\n")}`;
  };
}

/** A list under a heading, in a command's help. */
export function notes(heading: string, lines: readonly string[]) {
  return ({ command }: { command: Command }): string =>
    `\n${heading}:\n${lines.map((line) => wrapped(command, line, "  - ")).join("\n")}`;
}

/** What the help of a command says after its options: where the other flags are, how times are written. */
function closing(command: Command): string {
  if (command.commands.length > 0)
    return [
      "Each command's own help has examples: `brandapi help sync`.",
      "Flags that every command takes, such as --profile: `brandapi help flags`.",
      "No key yet? `brandapi demo` shows everything against a built-in sandbox.",
    ].join("\n");
  const takes = (...values: readonly string[]) =>
    command.options.some(({ flags, hidden }) => !hidden && values.some((value) => flags.endsWith(value)));
  const rare = command.options.some(({ hidden }) => hidden);
  const more = rare ? `More flags: \`brandapi help ${command.name()} --all\`. ` : "";
  return [
    `${more}Flags that every command takes, such as --profile: \`brandapi help flags\`.`,
    ...(takes("<time>") ? [`Times, all UTC: ${timeForms}.`] : []),
    ...(takes("<duration>", "<span>") ? [`Durations: ${durationForms}.`] : []),
  ]
    .map((line) => wrapped(command, line, ""))
    .join("\n");
}

/** `brandapi help [command] [--all]`. */
export function helpCommand(program: Command): Command {
  return new Command("help")
    .summary("Show help for a command")
    .argument("[command]", "a command, or `flags`")
    .helpOption(false)
    .option("-h, --help", "the same as without")
    .option("--all", "also the flags that few need")
    .action((name: string | undefined, { all }: { all?: boolean }) => {
      if (name === "flags") return program.configureOutput().writeOut?.(flagsHelp(program));
      const isOfHelp = name === undefined || name === "help";
      const command = isOfHelp ? program : program.commands.find((one) => one.name() === name);
      if (!command)
        return program.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand" });
      if (all) for (const option of command.options) option.hideHelp(false);
      command.outputHelp();
    });
}

/** `brandapi help flags`: the flags of every command, and how times and durations are written. */
function flagsHelp(program: Command): string {
  const help = Object.assign(new Help(), { visibleCommands: () => [], minWidthToWrap });
  help.prepareContext({ helpWidth: widthOf(program) });
  const flags = sectionsOf(program, help).filter((section) => section.startsWith("Options:"));
  const more = [
    "They stand before the command's name or after it. A flag goes before the environment, the environment before " +
      "what the profile has stored.",
    `Times, all UTC: ${timeForms}.`,
    `Durations: ${durationForms}.`,
  ];
  return `${[...flags, ...more.map((text) => wrapped(program, text, ""))].join("\n\n")}\n`;
}

const minWidthToWrap = 12;

/** Commander's help, with short terms; the program's own lists the commands, then `--help` and `--version`. */
export function setUpHelp(program: Command, deps: Deps): void {
  const own = ["--help", "--version"];
  program
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap,
      subcommandTerm,
      commandDescription: (command) =>
        [command.summary(), command.description()].filter((text) => text !== "").join("\n\n"),
      visibleOptions(command) {
        const options = Help.prototype.visibleOptions.call(this, command);
        return command === program ? options.filter(({ long }) => own.includes(long ?? "")) : options;
      },
      formatHelp: (command, help) =>
        `${[...commandsFirst(sectionsOf(command, help)), closing(command)].join("\n\n")}\n`,
    })
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => helpWidth(deps),
      getOutHasColors: () => false,
    });
}

/** `export <table...>`, without the `[options]` that every command has. */
function subcommandTerm(command: Command): string {
  const words = command.registeredArguments.map((one) => {
    const name = one.name() + (one.variadic ? "..." : "");
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

function sectionsOf(command: Command, help: Help): string[] {
  return Help.prototype.formatHelp.call(help, command, help).trimEnd().split("\n\n");
}

function commandsFirst(sections: readonly string[]): readonly string[] {
  const isFlags = (section: string) => section.startsWith("Options:");
  return [...sections.filter((one) => !isFlags(one)), ...sections.filter(isFlags)];
}

/** A text after `mark`, its second line on indented under the first. */
function wrapped(command: Command, text: string, mark: string): string {
  const indent = " ".repeat(mark.length);
  const lines = command.createHelp().boxWrap(text, Math.max(20, widthOf(command) - mark.length));
  return lines.replace(/^/gm, indent).replace(indent, mark);
}

function widthOf(command: Command): number {
  return command.configureOutput().getOutHelpWidth?.() ?? 80;
}

/** As wide as the terminal, or as `COLUMNS` says if there is none, but not wider than reads well. */
function helpWidth({ stdout, env }: Pick<Deps, "stdout" | "env">): number {
  const asked = /^[1-9]\d{0,4}$/.test(env.COLUMNS ?? "") ? Number(env.COLUMNS) : 80;
  return Math.min(stdout.columns || asked, 100);
}
