import { readSettings } from "../config/settings.js";
import { createReporter } from "../ui/reporter.js";
import type { Context, GlobalOptions } from "./context.js";
import { askIdentity, printIdentity, warnOfExpiry } from "./identity.js";

export const about =
  "Asks the API with one request that needs no scope: an answer proves that the key works.";

export const examples = {
  "brandapi whoami": "is the key good, and for how long?",
  "brandapi whoami --json | jq .key.days_left": "for a monitoring script",
};

export async function run(options: GlobalOptions, { deps }: Context): Promise<void> {
  const settings = await readSettings(options, deps, "ask");
  const reporter = createReporter(deps, options);
  const identity = await askIdentity(settings, deps, reporter);
  printIdentity(deps, settings, identity);
  warnOfExpiry(identity.key.expires_at, deps.clock.now(), settings.profile, reporter.warn);
  if (identity.skew) reporter.warn(identity.skew);
}
