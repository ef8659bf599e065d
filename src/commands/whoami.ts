import { fetchIdentity, printIdentity, warnBeforeExpiry } from "../cli/api-session.js";
import { TerminalReporter } from "../cli/progress.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import { noteMisspelledVariables } from "../config/variables.js";
import type { Context } from "../deps.js";

export const about = "Sends one request that needs no scope, so it works with any valid key.";

export const examples = {
  "brandapi whoami": "check the key and its expiry",
  "brandapi whoami --json | jq .key.days_left":
    "print only the number of days until the key expires, for monitoring",
};

export async function run(flags: GlobalFlags, { deps }: Context): Promise<void> {
  const settings = readSettings(flags, deps, "ask");
  const identity = await fetchIdentity(settings, flags, deps);
  const reporter = new TerminalReporter(deps, flags);
  noteMisspelledVariables(flags, deps.env, reporter.note);
  printIdentity(deps, flags, settings, identity);
  warnBeforeExpiry(identity.key.expires_at, settings, deps.clock.now(), reporter.warn);
  if (identity.clockWarning) reporter.warn(identity.clockWarning);
}
