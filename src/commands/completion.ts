import { Argument, Command } from "commander";
import { type Context, completionQuestion } from "./context.js";

/** A script asks the program, which prints a word per line. Of a file's name it knows none, and the shell completes it. */
const scripts = {
  bash: `# brandapi: completion for bash
_brandapi() {
  local IFS=$'\\n'
  COMPREPLY=($(brandapi ${completionQuestion} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _brandapi brandapi
`,
  zsh: `#compdef brandapi
# brandapi: completion for zsh
_brandapi() {
  compadd -- \${(f)"$(brandapi ${completionQuestion} "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files
}
if [[ \${funcstack[1]} = _brandapi ]]; then _brandapi "$@"; else compdef _brandapi brandapi; fi
`,
  fish: `# brandapi: completion for fish
function __brandapi_complete
  set -l words (commandline -opc) (commandline -ct)
  brandapi ${completionQuestion} $words[2..-1] 2>/dev/null
end
complete -c brandapi -a '(__brandapi_complete)'
`,
} as const;

export const examples = {
  "source <(brandapi completion bash)": "in ~/.bashrc; with zsh in ~/.zshrc, after compinit",
  "brandapi completion fish > ~/.config/fish/completions/brandapi.fish": "for fish",
};

export function define(context: Context): Command {
  return new Command("completion")
    .description("Commands, flags and their values, resources, tables, and the profiles of this machine.")
    .addArgument(new Argument("<shell>", "bash, zsh, fish").choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => void context.deps.stdout.write(scripts[shell]));
}
