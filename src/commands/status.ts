import { exitCodes, MirrorStale } from "../errors.js";
import { formatSpan, parseDuration } from "../times.js";
import { printJson } from "../ui/data.js";
import { defineCommand } from "./command.js";

export const status = defineCommand<{ maxAge?: number }>({
  name: "status",
  summary: "Show how complete and how fresh the mirror is",
  description:
    "Per resource: rows, what was read completely, the last success and the last error. " +
    "Needs no key and no network.",
  arguments: [],
  flags: [
    {
      flags: "--max-age <duration>",
      about: "exit 10 where a last success is older than this",
      parse: parseDuration,
    },
  ],
  examples: [
    { command: "brandapi status", about: "a look at the mirror" },
    {
      command: "brandapi status --max-age 26h --quiet",
      about: "for monitoring: exit 10 when a night was missed",
    },
    { command: "brandapi status --json | jq '.resources[] | {resource, age_seconds}'", about: "for scripts" },
  ],

  async run({ deps, options }) {
    const { existsSync } = await import("node:fs");
    const { readSettings } = await import("../config.js");
    const { openMirrorReadOnly } = await import("../query/open.js");
    const { readHealth } = await import("../query/health.js");
    const { printHealth } = await import("./print-health.js");
    const settings = await readSettings(options, deps);
    const maxAge = options.maxAge ?? null;
    if (maxAge !== null && !existsSync(settings.dbPath)) throw neverSynced(settings.dbPath);
    const mirror = await openMirrorReadOnly(settings.dbPath);
    try {
      const health = readHealth(mirror, deps.clock.now(), maxAge);
      if (settings.output.json) printJson(deps.stdout, health);
      else if (!settings.output.quiet) printHealth(health, deps, settings.output);
      if (maxAge === null) return exitCodes.done;
      if (health.resources.length === 0) throw neverSynced(settings.dbPath);
      if (health.stale.length > 0) throw staleError(health.stale, maxAge);
      return exitCodes.done;
    } finally {
      mirror.db.close();
    }
  },
});

function staleError(stale: readonly string[], maxAge: number): MirrorStale {
  return new MirrorStale(`Older than ${formatSpan(maxAge)}: ${stale.join(", ")}.`, {
    hint: `run \`brandapi sync ${stale.join(" ")}\``,
  });
}

function neverSynced(path: string): MirrorStale {
  return new MirrorStale(`Nothing was ever synced into this mirror: ${path}`, {
    hint: "run `brandapi sync`",
  });
}
