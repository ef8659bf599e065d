import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { binPath } from "./process.js";

/** What a shell offers for each line when Tab is pressed at its end. */
export type Press = (lines: readonly string[]) => string[][];

/** Whether a shell is on this machine. */
export function hasShell(name: string): boolean {
  return spawnSync(name, ["-c", "true"]).status === 0;
}

/** Loads a completion script into the real shell; its `brandapi` is this one, in a home folder of its own. */
export function loadInto(shell: "bash" | "zsh" | "fish", script: string, home: string): Press {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(binPath, join(bin, "brandapi"));
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8", TERM: "dumb" };
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, {
      cwd: home,
      env,
      encoding: "utf8",
      timeout: 50_000,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const pressed: Record<typeof shell, Press> = {
    bash: (lines) => lines.map((line) => pressInBash(run, script, line)),
    fish: (lines) => {
      const each = 'for line in $argv[2..]; complete -C "$line"; echo "= end"; end';
      const shown = run("fish", ["--no-config", "-c", `source $argv[1]; ${each}`, script, ...lines]);
      return parts(shown, "= end\n").map((part) => wordsOf(part.replace(/\t.*$/gm, "").split("\n")));
    },
    zsh: (lines) => {
      const harness = fileURLToPath(new URL("press.zsh", import.meta.url));
      const shown = run("zsh", ["-f", harness, script, ...lines]);
      return parts(shown, "\0").map((part, at) => offeredByZsh(part, lines[at] ?? ""));
    },
  };
  return pressed[shell];
}

/** As readline calls a completion function, which cuts the line at `=` and `:` too. */
function pressInBash(
  run: (command: string, args: string[]) => string,
  script: string,
  line: string,
): string[] {
  const words = line
    .split(" ")
    .flatMap((word) => (word === "" ? [""] : word.split(/([=:])/).filter((part) => part !== "")));
  const last = words.length - 1;
  const call = [
    'source "$1"; shift',
    "[[ $(complete -p brandapi) == 'complete -F _brandapi brandapi' ]] || exit 9",
    `COMP_WORDS=("$@"); COMP_CWORD=${last}; COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}`,
    `_brandapi brandapi "\${COMP_WORDS[${last}]}" "\${COMP_WORDS[${last - 1}]}"`,
    `printf "%s\\n" "\${COMPREPLY[@]}"`,
  ].join("\n");
  return wordsOf(run("bash", ["--norc", "-c", call, "bash", script, ...words]).split("\n"));
}

/** The one that zsh completed to, or those that it listed. */
function offeredByZsh(shown: string, line: string): string[] {
  const clean = shown.replaceAll("\r", "");
  const [, before = "", now = ""] = /^([\s\S]*)<([^<>]*)>\s*$/.exec(clean) ?? [];
  if (now !== line) return [now.trimEnd().split(" ").at(-1)?.replace(/[,=]$/, "") ?? ""];
  return wordsOf(
    before
      .split("\n")
      .filter((one) => !one.includes(line.trim()))
      .flatMap((one) => one.replace(/ +-- .*$/, "").split(/ +/)),
  );
}

function parts(text: string, end: string): string[] {
  return text.split(end).slice(0, -1);
}

function wordsOf(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => word.trim()))].filter((word) => word !== "").sort();
}
