import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/deps.js";
import { resources } from "../../src/resources/index.js";
import { startSandbox } from "../support/old-sandbox/index.js";
import { type Machine, mountDisk, type Trouble, troubles } from "./troubles.js";

const hour = 3_600_000;
const day = 24 * hour;
const firstNight = Date.UTC(2026, 10, 2, 4, 57);

/** What a night came to. Exit codes are null where nothing ran. */
interface Told {
  date: string;
  what: string;
  sync: number | null;
  log: string[];
  check: number | null;
  mail: string[];
  /** What `status` says later that morning. */
  status: string[];
}

interface Ended {
  code: number;
  text: string;
}

/**
 * Plays the nights with the two lines of `brandapi cron`, as cron runs them: by a shell, with next to no environment.
 * The clock is moved from night to night, and long waits are over at once.
 * @returns a Markdown table
 */
export async function tellNights(bin: string): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "brandapi-nights-"));
  const box = await startSandbox(
    { orders: 2_000, rateLimit: null, now: firstNight - hour },
    { clock: systemClock },
  );
  const disk = mountDisk(join(home, ".local/share/brandapi"));
  const shell = (command: string, at: number, stdin = "") =>
    runBare(command, { home, shiftMs: at - Date.now(), stdin });
  const brandapi = `${process.execPath} ${bin}`;
  const startOther = async () => ({ ended: shell(`${brandapi} sync --full`, box.now() - 25 * 60_000) });
  const machine: Machine = { box, disk, startOther };
  try {
    await shell(`${brandapi} login --base-url ${box.baseUrl} --key-stdin`, box.now(), box.key);
    const crontab = await shell(`${brandapi} cron`, box.now());
    const [sync = "", check = ""] = commandsOf(crontab.text);
    const told: Told[] = [];
    for (const [index, trouble] of troubles.entries()) {
      const at = firstNight + index * day;
      box.advance(at - box.now());
      if (trouble.what === "the disk is full" && disk === null) continue;
      const play = (command: string, time: number) => shell(command, time + (trouble.aheadMs ?? 0));
      told.push(
        await playNight(trouble, { machine, home, at, play, sync, check, status: `${brandapi} status` }),
      );
    }
    return asTable(told.map((one) => tidied(one, home, box.baseUrl)));
  } finally {
    await box.close();
    if (disk) spawnSync("umount", [disk]);
    rmSync(home, { recursive: true, force: true });
  }
}

interface Playing {
  machine: Machine;
  home: string;
  at: number;
  play(command: string, at: number): Promise<Ended>;
  sync: string;
  check: string;
  status: string;
}

async function playNight(
  trouble: Trouble,
  { machine, home, at, play, sync, check, status }: Playing,
): Promise<Told> {
  const log = join(home, ".local/state/brandapi/default.log");
  const before = existsSync(log) ? readFileSync(log, "utf8").length : 0;
  const mend = await trouble.begin?.(machine, at);
  const synced = trouble.isOff ? null : await play(sync, at);
  const written = existsSync(log) ? readFileSync(log, "utf8").slice(before) : "";
  const checked = await play(check, at + 4 * hour);
  const looked = await play(status, at + 4 * hour);
  await mend?.();
  return {
    date: new Date(at).toISOString().slice(0, 10),
    what: trouble.what,
    sync: synced?.code ?? null,
    log: linesOf(written).slice(1),
    check: checked.code,
    mail: linesOf((synced?.text ?? "") + checked.text),
    status: linesOf(looked.text).filter((line) => /^(! |A run is under way|warning)/.test(line)),
  };
}

function runBare(
  command: string,
  { home, shiftMs, stdin }: { home: string; shiftMs: number; stdin: string },
) {
  const preload = fileURLToPath(new URL("../../../test/soak/shifted-clock.mjs", import.meta.url));
  const env = {
    ...{ HOME: home, LOGNAME: "ada", PATH: "/usr/bin:/bin", SHELL: "/bin/sh" },
    ...{ NODE_OPTIONS: `--import=${preload}`, CLOCK_SHIFT_MS: String(shiftMs) },
  };
  const child = spawn("/bin/sh", ["-c", command], { env, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  child.stdin.end(stdin);
  return new Promise<Ended>((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code: code ?? -1, text }));
  });
}

/** The commands of a crontab, as cron hands them to the shell. */
function commandsOf(crontab: string): string[] {
  const lines = crontab.split("\n").filter((line) => /^\d/.test(line));
  return lines.map((line) => line.replace(/^(?:\S+\s+){5}/, "").replaceAll("\\%", "%"));
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

const names = resources.map(({ name }) => name);
const [first, last] = [names[0], names.at(-1)];

/** Lines that say the same of several resources as one, all their names as two, and no place of this machine. */
function tidied(told: Told, home: string, baseUrl: string): Told {
  const plain = (lines: readonly string[]) =>
    [", ", " "].reduce<string[]>(
      (shorter, between) =>
        shorter.map((line) => line.replaceAll(names.join(between), `${first}${between}… ${last}`)),
      lines.map((line) =>
        line.replaceAll(home, "~").replaceAll(new URL(baseUrl).host, "platform.example").trim(),
      ),
    );
  const isWell = (line: string) => line.endsWith(", verified");
  const well = told.log.filter(isWell).length;
  const rest = told.log.filter((line) => !isWell(line));
  const log = [...(well > 0 ? [`(${well} resources read, verified)`] : []), ...rest];
  return { ...told, log: plain(log), mail: plain(told.mail), status: plain(told.status) };
}

function asTable(nights: readonly Told[]): string[] {
  const cell = (lines: readonly string[]) =>
    lines.length === 0
      ? "nothing"
      : lines.map((line) => line.replaceAll("|", "\\|").replaceAll("<", "&lt;")).join("<br>");
  const rows = nights.map(
    ({ date, what, sync, log, check, mail, status }) =>
      `| ${date}: ${what} | ${sync ?? "none"} | ${cell(log)} | ${check} | ${cell(mail)} | ${cell(status)} |`,
  );
  return [
    "| the night | sync ends with | its log | the check ends with | cron mails | `status` in the morning marks |",
    "| --- | ---: | --- | ---: | --- | --- |",
    ...rows,
  ];
}
