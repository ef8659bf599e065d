import { Argument, type Command, type Option } from "commander";
import { scanCommandLine } from "../cli/command-line.js";
import { withChoices } from "../cli/flags.js";
import type { GlobalFlags } from "../config/settings.js";
import { readProfilesWithKey } from "../config/stored-profiles.js";
import type { Context, Deps } from "../deps.js";
import { declaredColumns, mainTableNames, tableNames } from "../query/readable-tables.js";
import { resources } from "../resources/registry.js";

/**
 * The completion script for each shell. The scripts run `brandapi __complete`, which prints one candidate per line. If
 * there are no candidates, the shell completes file names.
 */
const scripts = {
  bash: `# brandapi: completion for bash
_brandapi() {
  local IFS=$'\\n'
  COMPREPLY=($(brandapi __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _brandapi brandapi
`,
  zsh: `#compdef brandapi
# brandapi: completion for zsh
_brandapi() {
  compadd -- \${(f)"$(brandapi __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files
}
if [[ \${funcstack[1]} = _brandapi ]]; then _brandapi "$@"; else compdef _brandapi brandapi; fi
`,
  fish: `# brandapi: completion for fish
function __brandapi_complete
  set -l words (commandline -opc) (commandline -ct)
  brandapi __complete $words[2..-1] 2>/dev/null
end
complete -c brandapi -a '(__brandapi_complete)'
`,
} as const;

export const about =
  "The script completes commands, flags, flag values, resources, tables, columns and profiles.";

export const examples = {
  "source <(brandapi completion bash)": "add this line to ~/.bashrc; for zsh, to ~/.zshrc after compinit",
  "brandapi completion fish > ~/.config/fish/completions/brandapi.fish": "install completion for fish",
};

export function define(command: Command): void {
  command.addArgument(withChoices(new Argument("<shell>", "bash, zsh, fish"), "shell", Object.keys(scripts)));
}

export function run(_flags: GlobalFlags, { deps }: Context, shell: keyof typeof scripts): void {
  deps.stdout.write(scripts[shell]);
}

/**
 * Prints the completions for the last word, one per line, or nothing if a file name is expected. Sends no requests and
 * prints no errors.
 */
export async function printCompletions(program: Command, words: readonly string[], deps: Deps) {
  const candidates = await listCandidates(program, words, deps).catch(() => []);
  const fitting = candidates.filter((word) => word.startsWith(words.at(-1) ?? ""));
  deps.stdout.write(fitting.map((word) => `${word}\n`).join(""));
}

async function listCandidates(program: Command, words: readonly string[], deps: Deps) {
  const before = words.slice(0, -1);
  const typed = scanCommandLine(before).command;
  const command = program.commands.find((one) => one.name() === typed);
  const options = [...(command?.options ?? []), ...program.options];
  const previous = before.at(-1) ?? "";
  const flag = options.find(({ long, short, required }) => required && [long, short].includes(previous));
  if (flag?.long === "--columns") return listColumns(words);
  if (flag) return listCandidateValues(flag, deps);
  if (words.at(-1)?.startsWith("-")) return options.flatMap(({ long }) => long ?? []);
  if (!command) return program.commands.map((one) => one.name());
  const [argument] = command.registeredArguments;
  return argument ? listCandidateValues(argument, deps) : [];
}

/**
 * Returns the columns of the tables on the command line. Each candidate starts with the columns that have already been
 * typed, because the shell replaces the whole word.
 */
function listColumns(words: readonly string[]): string[] {
  const names = words.map((word) => word.replaceAll("-", "_"));
  const tables = tableNames.filter((name) => names.includes(name));
  const columns = new Set(tables.flatMap(declaredColumns).map(({ name }) => name));
  const typed = /^.*,/.exec(words.at(-1) ?? "")?.[0] ?? "";
  return [...columns].map((name) => typed + name);
}

/**
 * Returns the completions for an option or argument: its declared choices, or the known values for its kind of
 * placeholder.
 */
function listCandidateValues(target: Option | Argument, deps: Deps): readonly string[] {
  if (target.argChoices) return target.argChoices;
  const placeholder = "flags" in target ? /<([\w-]+)/.exec(target.flags)?.[1] : target.name();
  if (placeholder === "resource") return resources.map(({ name }) => name);
  if (placeholder === "table") return mainTableNames;
  if (placeholder === "profile") return readProfilesWithKey(deps).map(([name]) => name);
  return [];
}
