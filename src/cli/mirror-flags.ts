import type { CommandLine, Env } from "../deps.js";
import { quoteShellWord } from "../util/format-text.js";

/** The flags that select the mirror. */
export type MirrorFlags = Partial<Pick<CommandLine, "profile" | "db">>;

/** Commands that use neither a profile nor the mirror. */
const independentCommands = ["completion", "demo", "help", "profiles", "sandbox"];

/**
 * Adds `--profile` and `--db` from the current command line to the commands in a hint, warning or note, except to
 * commands that already have them. Code that creates a message therefore omits these flags. A profile that was selected
 * with BRANDAPI_PROFILE is added only to `login`, because for other commands `--profile` would also override other environment
 * variables.
 */
export function addMirrorFlags(text: string, { profile, db }: MirrorFlags, env: Env): string {
  return text.replace(/`(?:[^`]*(?:\||&&) )?brandapi ([a-z]+)\b[^`]*/g, (command, name: string) => {
    if (independentCommands.includes(name) || command.includes("--help")) return command;
    let completed = command;
    const selected = name === "login" ? profile || env.BRANDAPI_PROFILE : profile;
    if (selected && !command.includes("--profile")) completed += ` --profile ${quoteShellWord(selected)}`;
    if (db !== undefined && !command.includes("--db") && name !== "login")
      completed += ` --db ${quoteShellWord(db)}`;
    return completed;
  });
}
