import { exitCodes } from "../errors.js";
import { defineCommand } from "./command.js";
import { interactiveFlags } from "./globals.js";

export const whoami = defineCommand({
  name: "whoami",
  summary: "Show the brand, the key's scopes and when it expires",
  description: "Asks the API with one request that needs no scope: an answer proves that the key works.",
  arguments: [],
  flags: interactiveFlags,
  examples: [
    { command: "brandapi whoami", about: "is the key good, and for how long?" },
    { command: "brandapi whoami --profile acme", about: "the same for another brand" },
    { command: "brandapi whoami --json | jq .key.days_left", about: "for a monitoring script" },
  ],

  async run({ deps, options }) {
    const { interactiveMaxWaitMs, openAccess } = await import("./access.js");
    const { expiryWarning, printIdentity, readIdentity } = await import("./identity.js");
    const { createReporter } = await import("../ui/reporter.js");
    const reporter = createReporter(deps, options);
    try {
      const { settings, api } = await openAccess(options, deps, reporter, {
        maxWaitMs: interactiveMaxWaitMs,
      });
      try {
        const identity = await readIdentity(api, settings.maxWaitMs);
        printIdentity(deps, settings, identity);
        const warning = expiryWarning(identity.key.expires_at, deps.clock.now(), settings.profile);
        if (warning) reporter.warn(warning);
      } finally {
        api.close();
      }
    } finally {
      reporter.close();
    }
    return exitCodes.done;
  },
});
