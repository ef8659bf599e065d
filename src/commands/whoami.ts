import type { Command } from "commander";
import { readSettings } from "../config/settings.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { askIdentity, expiryWarning, printIdentity } from "./identity.js";

export const examples = {
  "brandapi whoami": "is the key good, and for how long?",
  "brandapi whoami --json | jq .key.days_left": "for a monitoring script",
};

export function define(command: Command): void {
  command.description(
    "Asks the API with one request that needs no scope: an answer proves that the key works.",
  );
}

export async function run(options: GlobalOptions, { deps }: Context): Promise<void> {
  const settings = await readSettings(options, deps, "ask");
  const reporter = createReporter(deps, options);
  const identity = await askIdentity(settings, deps, reporter);
  printIdentity(deps, settings, identity);
  const warning = expiryWarning(identity.key.expires_at, deps.clock.now(), settings.profile);
  for (const text of [warning, identity.skew]) if (text) reporter.warn(text);
}
