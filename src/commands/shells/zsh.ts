import { question } from "./question.js";
import type { Typeable, TypeableCommand, TypeableFlag, Value } from "./typeable.js";

/** Made of `_arguments` specifications: zshcompsys(1). Only what the machine knows is asked for at Tab. */
export function zshCompletion({ everywhere, commands }: Typeable): string {
  return `#compdef brandapi
# Completion of brandapi in zsh. Save it as _brandapi in a folder of $fpath, or in ~/.zshrc, after compinit:
#   source <(brandapi completion zsh)

_brandapi_profiles() {
  local -a found
  found=(\${(f)"$("$brandapi_typed[1]" ${question} profiles 2>/dev/null </dev/null)"})
  compadd "$@" -a found
}

_brandapi_columns() {
  local -a found
  found=(\${(f)"$("$brandapi_typed[1]" ${question} columns "\${(@)brandapi_typed[2,-1]}" 2>/dev/null </dev/null)"})
  ((\${#found})) && _values -s , column $found
}

_brandapi() {
  local curcontext=$curcontext state line ret=1
  typeset -A opt_args
  local -a everywhere commands brandapi_typed
  brandapi_typed=("\${(@)words[1,CURRENT]}")
  everywhere=(
${lines(everywhere.flatMap(flagSpecs), 4)}
  )
  commands=(
${lines(
  commands.map(({ name, about }) => `${name}:${about}`),
  4,
)}
  )
  # After the command's name its own flags come first.
  _arguments -C -A '-*' $everywhere '1: :->command' '*:: :->rest' && ret=0
  case $state in
    command) _describe -t commands command commands && ret=0 ;;
    rest)
      curcontext=\${curcontext%:*:*}:brandapi-$line[1]:
      case $line[1] in
${commands.map((command) => commandCase(command, everywhere)).join("\n")}
      esac
      ;;
  esac
  return ret
}

if [[ $funcstack[1] == _brandapi ]]; then _brandapi "$@"; else compdef _brandapi brandapi; fi
`;
}

function commandCase(command: TypeableCommand, everywhere: readonly TypeableFlag[]): string {
  const own = new Set(command.flags.flatMap(({ names }) => names));
  // The same flag twice is an error: a command's own goes before the one of everywhere.
  const others = everywhere
    .flatMap(({ names }) => names)
    .filter((name) => own.has(name))
    .reduce((rest, name) => `\${(@)${rest}:#${name}*}`, "everywhere");
  const specs = [...command.flags.flatMap(flagSpecs), ...command.arguments.map(argumentSpec)];
  const shared = others === "everywhere" ? "$everywhere" : `"${others}"`;
  return `        ${command.name})
          _arguments ${shared} \\
${lines(specs, 12, " \\")}            && ret=0
          ;;`;
}

/** `(-o --out)-o+[about]:file:_files`: a flag once, under each of its names. */
function flagSpecs({ names, about, value }: TypeableFlag): string[] {
  const once = value?.isList || value?.isMany ? "*" : names.length > 1 ? `(${names.join(" ")})` : "";
  return names.map((name) => {
    const taking = value ? (name.startsWith("--") ? "=" : "+") : "";
    return `${once}${name}${taking}[${inBrackets(about)}]${value ? `:${value.name}:${action(value)}` : ""}`;
  });
}

function argumentSpec(value: Value, at: number): string {
  return `${value.isMany ? "*" : at + 1}:${value.name}:${action(value)}`;
}

function action({ name, values, isList }: Value): string {
  if (values === "files") return "_files";
  if (values === "folders") return "_files -/";
  if (typeof values === "string") return `_brandapi_${values}`;
  if (values.length === 0) return " ";
  return isList ? ` _values -s , ${name} ${values.join(" ")}` : `(${values.join(" ")})`;
}

function inBrackets(about: string): string {
  return about.replaceAll("[", "(").replaceAll("]", ")").replaceAll(":", "\\:");
}

function lines(words: readonly string[], indent: number, end = ""): string {
  const quoted = words.map((word) => `${" ".repeat(indent)}'${word.replaceAll("'", "'\\''")}'${end}`);
  return end === "" ? quoted.join("\n") : quoted.map((line) => `${line}\n`).join("");
}
