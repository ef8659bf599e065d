import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";
import { shellCommand, shellWord } from "../lib/shell.js";
import type { Nightly } from "./nightly.js";

/**
 * What a night is, in the words of each program that can start it. Explanations are comments: everything can be
 * installed as it is printed.
 */

/** Two lines for `crontab -`: the sync, which writes a log, and the check in the morning, whose words cron mails. */
export function crontab(night: Nightly): string {
  const { check, env, flags, hour, log, minute, sync } = night;
  // Some crons halve a doubled one before the shell sees it, others do not.
  if ([...sync, ...Object.values(env), log].some((value) => value.includes("\\")))
    throw new ConfigurationError("A crontab cannot hold a path with a backslash.", {
      hint: "use another path, or `brandapi cron --systemd`",
    });
  const lines = [
    `${minute} ${hour} * * *  ${logged(night, shellCommand(sync, env))}`,
    `${minute} ${hour + 4} * * *  ${shellCommand(check, env)}`,
  ];
  return text([
    `# ${title(night)}: a sync, and a check in the morning. To add them:`,
    `#   (crontab -l 2>/dev/null; ${shellCommand(["brandapi", "cron", ...flags])}) | crontab -`,
    "# Print them anew where Node or brandapi has moved, and delete these. The sync writes to its log:",
    `#   ${log}`,
    "# The check prints what is stale, and that the key is about to expire. Cron mails it, where this machine has a",
    "# mail server: to you, or to whom a line MAILTO=you@example.com above these names.",
    // A bare one ends the command.
    ...lines.map((line) => line.replaceAll("%", "\\%")),
  ]);
}

/** A service and its timer, for the user's own systemd. It fails where the sync fails, and where something is stale. */
export function systemdUnits(night: Nightly): string {
  const { name, env, flags, hour, minute, sync, check } = night;
  const unit = `brandapi-${name}`;
  const command = shellCommand(["brandapi", "cron", "--systemd", ...flags]);
  return text([
    `# ${title(night)}: two units of systemd. To save them as files:`,
    "#   mkdir -p ~/.config/systemd/user && cd ~/.config/systemd/user",
    `#   ${command} | awk '/^# file: /{f=$3} f{print > f}'`,
    `#   systemctl --user daemon-reload && systemctl --user enable --now ${unit}.timer`,
    "# `loginctl enable-linger` lets it run while you are not logged in. What it printed, and whether it failed:",
    `#   journalctl --user -u ${unit}; systemctl --user --failed`,
    "",
    `# file: ${unit}.service`,
    "[Unit]",
    `Description=${title(night)}`,
    "",
    "[Service]",
    "Type=oneshot",
    ...Object.entries(env).map(([variable, value]) => `Environment=${systemdWord(`${variable}=${value}`)}`),
    ...[sync, check].map((words) => `ExecStart=${systemdCommand(words)}`),
    "",
    `# file: ${unit}.timer`,
    "[Unit]",
    `Description=${title(night)}`,
    "",
    "[Timer]",
    `OnCalendar=*-*-* ${clock(hour, minute)}:00`,
    "# A night that this machine slept through is made up for.",
    "Persistent=true",
    "",
    "[Install]",
    "WantedBy=timers.target",
  ]);
}

/** An agent for macOS. It fails where the sync fails, and where something is stale; both write to the log. */
export function launchdPlist(night: Nightly): string {
  const { name, env, hour, minute, sync, check } = night;
  const label = `brandapi.${name}`;
  const command = logged(night, `${shellCommand(sync)} && ${shellCommand(check)}`);
  const variables = Object.entries(env).map(([variable, value]) => [
    `    <key>${variable}</key>`,
    `    <string>${xml(value)}</string>`,
  ]);
  return text([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    "<!--",
    "  Save it in ~/Library/LaunchAgents under its Label and .plist, then: launchctl bootstrap gui/$UID FILE",
    "  What it printed is in the log that the command names; `launchctl print gui/$UID/LABEL` tells its last exit code.",
    "-->",
    '<plist version="1.0">',
    "<dict>",
    "  <key>Label</key>",
    `  <string>${label}</string>`,
    ...(variables.length === 0
      ? []
      : ["  <key>EnvironmentVariables</key>", "  <dict>", ...variables.flat(), "  </dict>"]),
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...["/bin/sh", "-c", command].map((word) => `    <string>${xml(word)}</string>`),
    "  </array>",
    "  <key>StartCalendarInterval</key>",
    "  <dict>",
    "    <key>Hour</key>",
    `    <integer>${hour}</integer>`,
    "    <key>Minute</key>",
    `    <integer>${minute}</integer>`,
    "  </dict>",
    "</dict>",
    "</plist>",
  ]);
}

function title({ name, hour, minute }: Nightly): string {
  const whose = name === "all-profiles" ? "every brand" : `the profile ${name}`;
  return `brandapi, ${whose}, every night at ${clock(hour, minute)}`;
}

/** A shell command whose words go into the log, under the time of each night. */
function logged({ log }: Nightly, command: string): string {
  return `mkdir -pm 700 ${shellWord(dirname(log))} && { date -u; ${command}; } >> ${shellWord(log)} 2>&1`;
}

function clock(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}

/** systemd.service(5), "Command lines": a dollar sign begins a variable, but not in the program's own path. */
function systemdCommand([program = "", ...words]: readonly string[]): string {
  return [systemdWord(program), ...words.map((word) => systemdWord(word).replaceAll("$", "$$$$"))].join(" ");
}

/** systemd.syntax(7), "Quoting", and the specifiers of systemd.unit(5), which a per cent sign begins. */
function systemdWord(word: string): string {
  const escaped = word.replaceAll("%", "%%");
  return /^[\w./:@%+=,-]+$/.test(word) ? escaped : `"${escaped.replace(/["\\]/g, "\\$&")}"`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function xml(value: string): string {
  return value.replace(/[&<>]/g, (character) => entities[character] ?? character);
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
