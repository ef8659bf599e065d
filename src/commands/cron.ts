import { exitCodes, UsageError } from "../errors.js";
import { defineCommand } from "./command.js";
import { allProfilesFlag } from "./globals.js";

interface CronFlags {
  systemd?: boolean;
  launchd?: boolean;
  allProfiles?: boolean;
}

export const cron = defineCommand<CronFlags>({
  name: "cron",
  summary: "Print what runs a sync every night; install nothing",
  description:
    "Lines for this machine, this Node and this profile, with absolute paths and a minute of their own: a sync that " +
    "writes a log, and `status --max-age 26h`, which says what is stale. The key is never in them.",
  arguments: [],
  flags: [
    { flags: "--systemd", about: "a service and a timer of the user's own systemd" },
    { flags: "--launchd", about: "an agent for macOS" },
    { ...allProfilesFlag, about: "for every brand that is set up here, one after another" },
  ],
  examples: [
    { command: "brandapi cron", about: "look at the lines first" },
    { command: "(crontab -l; brandapi cron) | crontab -", about: "add them to your crontab" },
    { command: "brandapi cron --profile acme --systemd", about: "units for another brand" },
  ],

  async run({ deps, options }) {
    if (options.systemd && options.launchd)
      throw new UsageError("One at a time, not `--systemd` and `--launchd`.", {
        hint: "leave one of them out",
      });
    const { createReporter } = await import("../ui/reporter.js");
    const { refuseSingle } = await import("./each-profile.js");
    const { planNight } = await import("./nightly.js");
    const { crontab, launchdPlist, systemdUnits } = await import("./schedules.js");
    if (options.allProfiles) refuseSingle(options);
    const reporter = createReporter(deps, options);
    const night = await planNight(options, deps, reporter.warn);
    const print = options.systemd ? systemdUnits : options.launchd ? launchdPlist : crontab;
    deps.stdout.write(print(night));
    reporter.close();
    return exitCodes.done;
  },
});
