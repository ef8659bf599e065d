import { question } from "./question.js";
import type { Typeable, TypeableFlag, Value } from "./typeable.js";

/** For bash 3.2 and later. Its tables are made from the registry; only what the machine knows is asked for at Tab. */
export function bashCompletion({ everywhere, commands }: Typeable): string {
  const flags = commands.map(({ name, flags }) => `    ${name}) flags='${namesOf(flags)}' ;;`);
  // A command's own flag goes before the one of everywhere.
  const valued = [
    ...commands.flatMap(({ name, flags }) => flags.flatMap((flag) => valuedCases(name, flag))),
    ...everywhere.flatMap((flag) => valuedCases("*", flag)),
  ];
  const places = commands.flatMap(({ name, arguments: values }) =>
    values.map((value, at) => `    ${name}:${value.isMany ? "*" : at + 1}) ${setValue(value)};;`),
  );
  return script({
    commands: commands.map(({ name }) => name).join(" "),
    everywhere: namesOf(everywhere),
    flags: flags.join("\n"),
    valued: valued.join("\n"),
    places: places.join("\n"),
  });
}

function namesOf(flags: readonly TypeableFlag[]): string {
  return flags.flatMap(({ names }) => names).join(" ");
}

function valuedCases(command: string, { names, value }: TypeableFlag): string[] {
  return value ? names.map((name) => `    ${command}:${name}) ${setValue(value)};;`) : [];
}

function setValue({ values, isList }: Value): string {
  const kind = typeof values === "string" ? `kind=${values}` : `words='${values.join(" ")}'`;
  return values.length === 0 ? "" : `${kind}${isList ? " list=1" : ""} `;
}

function script(tables: Record<"commands" | "everywhere" | "flags" | "valued" | "places", string>): string {
  return `# Completion of brandapi in bash. In ~/.bashrc:  source <(brandapi completion bash)

# What can stand as the value of a flag. @param command flag
_brandapi_value() {
  kind='' words='' list=''
  case "$1:$2" in
${tables.valued}
    *) return 1 ;;
  esac
}

# What can stand as a command's argument. @param command position
_brandapi_argument() {
  kind='' words='' list=''
  case "$1:$2" in
${tables.places}
    *) return 1 ;;
  esac
}

_brandapi() {
  local IFS=$' \\t\\n' program=$1 kind='' words='' list='' flags='' command='' flag='' place=1
  local typed=() word raw i before='' head='' taken found=()
  # Bash cuts words at = and : as well: what was typed as one word becomes one again.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    raw=\${COMP_WORDS[i]}
    if [[ \${#typed[@]} -gt 0 && ( $raw == [=:]* || \${COMP_WORDS[i - 1]} == [=:] ) ]]; then
      typed[\${#typed[@]} - 1]+=$raw
    else
      typed+=("$raw")
    fi
  done
  local current=\${typed[\${#typed[@]} - 1]}
  for ((i = 0; i < \${#typed[@]} - 1; i++)); do
    word=\${typed[i]}
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -*=* ]]; then
      :
    elif [[ $word == -* ]]; then
      _brandapi_value "$command" "$word" && flag=$word
    elif [[ -z $command ]]; then
      command=$word
    else
      place=$((place + 1))
    fi
  done
  kind='' words='' list=''
  if [[ -n $flag ]]; then
    _brandapi_value "$command" "$flag"
  elif [[ $current == --*=* ]]; then
    _brandapi_value "$command" "\${current%%=*}" || return 0
    # Only where bash did not cut the word does the whole of it stand for itself.
    [[ \${COMP_WORDS[COMP_CWORD]} == --*=* ]] && before=\${current%%=*}=
    current=\${current#*=}
  elif [[ $current == -* ]]; then
    case "$command" in
${tables.flags}
    esac
    words="$flags ${tables.everywhere}"
  elif [[ -z $command ]]; then
    words='${tables.commands}'
  else
    _brandapi_argument "$command" "$place" || return 0
  fi
  if [[ -n $list && $current == *,* ]]; then
    head=\${current%,*},
    current=\${current##*,}
  fi
  case "$kind" in
    profiles) words=$("$program" ${question} profiles 2>/dev/null </dev/null) ;;
    columns) words=$("$program" ${question} columns "\${typed[@]}" 2>/dev/null </dev/null) ;;
    files | folders)
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$before$word"); done < <(
        [[ $kind == files ]] && compgen -f -- "$current" || compgen -d -- "$current"
      )
      return 0
      ;;
  esac
  taken=,$head
  for word in $words; do
    if [[ $word == "$current"* && $taken != *",$word,"* ]]; then COMPREPLY+=("$before$head$word"); fi
  done
  [[ -n $list ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _brandapi brandapi
`;
}
