import type { CommandLine, Env } from "../deps.js";
import { quoteShellWord } from "../util/format-text.js";

/** The flags that select the brand, its mirror, the API's address and the key. */
export type BrandFlags = Partial<Pick<CommandLine, "profile" | "db" | "baseUrl" | "keyFile">>;

/** Commands that use neither a profile nor the mirror. */
const independentCommands = ["completion", "demo", "help", "profiles", "sandbox"];
/** Commands that send requests with the key, and `cron`, which prints such commands. `login` is treated separately. */
const requestCommands = ["cron", "doctor", "download", "sync", "verify", "whoami"];

/**
 * Adds `--profile`, `--db`, `--base-url` and `--key-file` from the current command line to the commands in a hint,
 * warning or note, except to commands that already have them or to which they do not apply. Code that creates a message
 * therefore omits these flags. `--key-file` is not added to `login`, because hints with `login` are about storing
 * another key. A profile that was selected with BRANDAPI_PROFILE is added only to `login`, because for other commands
 * `--profile` would also override other environment variables.
 */
export function addBrandFlags(text: string, flags: BrandFlags, env: Env): string {
  return text.replace(/`(?:[^`]*(?:\||&&) )?brandapi ([a-z]+)\b[^`]*/g, (command, name: string) => {
    if (independentCommands.includes(name) || command.includes("--help")) return command;
    const isLogin = name === "login";
    const sendsRequests = requestCommands.includes(name);
    const values = {
      "--profile": isLogin ? flags.profile || env.BRANDAPI_PROFILE : flags.profile,
      "--db": isLogin ? undefined : flags.db,
      "--base-url": isLogin || sendsRequests ? flags.baseUrl : undefined,
      "--key-file": sendsRequests ? flags.keyFile : undefined,
    };
    const missing = Object.entries(values).flatMap(([flag, value]) =>
      !value || command.includes(flag) ? [] : ` ${flag} ${quoteShellWord(value)}`,
    );
    return command + missing.join("");
  });
}
