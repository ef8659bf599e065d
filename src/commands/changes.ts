import { exitCodes, UsageError } from "../errors.js";
import { resources } from "../resources/index.js";
import { parseInstant } from "../times.js";
import { chooseResources } from "./choose.js";
import { defineCommand } from "./command.js";
import { parseCount } from "./values.js";

interface ChangesFlags {
  since?: string;
  until?: string;
  limit?: number;
  csv?: boolean;
}

export const changes = defineCommand<ChangesFlags>({
  name: "changes",
  summary: "Show what changed in already mirrored records",
  description:
    "Refunds, cancellations, rates, states, joins and leaves. The API gives no date of a " +
    "change, so each is told as an interval: last seen as it was, first seen as it is.",
  arguments: [
    {
      syntax: "[resource]",
      about: resources
        .filter(({ history }) => history)
        .map(({ name }) => name)
        .join(", "),
    },
  ],
  flags: [
    { flags: "--since <time>", about: "seen since then", shown: "7d" },
    { flags: "--until <time>", about: "seen until then" },
    { flags: "--limit <n>", about: "the newest so many; in a table, whole records", parse: parseCount },
    { flags: "--csv", about: "CSV on stdout, as `export changes` writes it" },
    { flags: "--json", about: "a JSON array on stdout, as `export changes` writes it" },
  ],
  examples: [
    { command: "brandapi changes", about: "the last week, every resource" },
    {
      command: "brandapi changes orders --since 30d --csv > refunds.csv",
      about: "a month of refunds and corrections",
    },
  ],

  async run({ deps, args, options }) {
    if (options.csv && options.json)
      throw new UsageError("One format at a time, not `--csv` and `--json`.", {
        hint: "leave one of them out",
      });
    const now = deps.clock.now();
    const chosen = args[0] === undefined ? undefined : chooseResources(args).resources[0];
    const { readSettings } = await import("../config.js");
    const { showChanges } = await import("./changes-run.js");
    const settings = await readSettings(options, deps);
    await showChanges({
      deps,
      settings,
      resource: chosen?.name,
      since: parseInstant(options.since ?? "7d", "start", now),
      until: options.until === undefined ? undefined : parseInstant(options.until, "end", now),
      limit: options.limit,
      format: options.csv ? "csv" : options.json ? "json" : "table",
    });
    return exitCodes.done;
  },
});
