import { question } from "./question.js";
import type { Typeable, TypeableCommand, TypeableFlag, Value } from "./typeable.js";

/** A line of `complete` for each command, flag and argument. Only what the machine knows is asked for at Tab. */
export function fishCompletion({ everywhere, commands }: Typeable): string {
  const every = [...everywhere, ...commands.flatMap(({ flags }) => flags)];
  const valued = new Set(every.flatMap(({ names, value }) => (value ? names : [])));
  return `# Completion of brandapi in fish:  brandapi completion fish > ~/.config/fish/completions/brandapi.fish

# The words typed so far that are neither a flag nor a flag's value.
function __brandapi_typed
    set -l valued ${[...valued].join(" ")}
    set -l words (commandline -opc)
    set -e words[1]
    set -l is_value 0
    for word in $words
        if test $is_value = 1
            set is_value 0
        else if string match -q -- '-*=*' $word
            continue
        else if string match -q -- '-*' $word
            contains -- $word $valued; and set is_value 1
        else
            echo $word
        end
    end
end

# Whether a command was typed, and so many arguments of it. @param command count
function __brandapi_at
    set -l typed (__brandapi_typed)
    set -l count (count $typed)
    switch (count $argv)
        case 0
            test $count = 0
        case 1
            test $count -gt 0; and test $typed[1] = $argv[1]
        case 2
            test $count = (math $argv[2] + 1); and test $typed[1] = $argv[1]
    end
end

# The words that can follow the last comma.
function __brandapi_list
    set -l value (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l head (string match -r -- '^.*,' $value)
    for word in $argv
        string match -q -- "*,$word,*" ",$head"; or echo "$head$word"
    end
end

complete -c brandapi -f
${everywhere.map((flag) => flagLine("", flag)).join("\n")}
${commands.map(commandLines).join("\n")}
`;
}

function commandLines({ name, about, flags, arguments: values }: TypeableCommand): string {
  return [
    `complete -c brandapi -n __brandapi_at -a ${name} -d ${quoted(about)}`,
    ...flags.map((flag) => flagLine(` -n '__brandapi_at ${name}'`, flag)),
    ...values.map((value, at) => {
      const place = value.isMany ? "" : ` ${at}`;
      return `complete -c brandapi -n '__brandapi_at ${name}${place}'${valueWords(value)}`;
    }),
  ].join("\n");
}

function flagLine(condition: string, { names, about, value }: TypeableFlag): string {
  const spelled = names.map((name) =>
    name.startsWith("--") ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`,
  );
  const taking = value ? ` ${value.values === "files" ? "-r -F" : "-x"}${valueWords(value)}` : "";
  return `complete -c brandapi${condition}${spelled.join("")}${taking} -d ${quoted(about)}`;
}

function valueWords({ values, isList }: Value): string {
  if (values === "files") return "";
  if (values === "folders") return " -a '(__fish_complete_directories)'";
  const asked = values === "columns" ? "columns (commandline -opc)[2..]" : values;
  const words = typeof values === "string" ? `(brandapi ${question} ${asked} 2>/dev/null)` : values.join(" ");
  return words === "" ? "" : ` -a ${quoted(isList ? `(__brandapi_list ${words})` : words)}`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
