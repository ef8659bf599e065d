import { exitCodes, UsageError } from "../errors.js";
import { suggest } from "../lib/nearest.js";
import { defineCommand } from "./command.js";

const shells = ["bash", "zsh", "fish"];

export const completion = defineCommand({
  name: "completion",
  summary: "Print what makes Tab complete this program's words in a shell",
  description:
    "Commands, flags and their values, resources and tables; profiles and columns as this machine has them. A new " +
    "version brings new words: print it again, or let the shell load it as it starts.",
  arguments: [{ syntax: "<shell>", about: shells.join(", "), values: shells }],
  flags: [],
  examples: [
    {
      command: "source <(brandapi completion bash)",
      about: "in ~/.bashrc; with zsh in ~/.zshrc, after compinit",
    },
    { command: "brandapi completion fish > ~/.config/fish/completions/brandapi.fish", about: "for fish" },
  ],

  async run({ deps, args, commands }) {
    const [shell = ""] = args;
    const { typeable } = await import("./shells/typeable.js");
    const { bashCompletion } = await import("./shells/bash.js");
    const { fishCompletion } = await import("./shells/fish.js");
    const { zshCompletion } = await import("./shells/zsh.js");
    const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
    const script = Object.entries(scripts).find(([name]) => name === shell)?.[1];
    if (!script) throw new UsageError(`No completion for \`${shell}\`.`, { hint: suggest(shell, shells) });
    deps.stdout.write(script(typeable(commands)));
    return exitCodes.done;
  },
});
