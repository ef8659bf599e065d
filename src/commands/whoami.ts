import { askIdentity, printIdentity, warnOfExpiry } from "../cli/api-session.js";
import type { Context } from "../cli/context.js";
import { createReporter } from "../cli/progress.js";
import { type GlobalOptions, readSettings } from "../config/settings.js";

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
