import { spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Apart, Deps } from "../deps.js";
import { type ExitCode, UsageError } from "../errors.js";

/** What the other process may need of the environment: places, languages, the terminal. Never a key. */
const needed =
  /^(PATH|HOME|USERPROFILE|SYSTEMROOT|APPDATA|LOCALAPPDATA|XDG_\w+|TMPDIR|TMP|TEMP|SQLITE_TMPDIR|LD_LIBRARY_PATH|DYLD_\w+|LANG|LC_\w+|TZ|TERM|COLORTERM|COLUMNS|NO_COLOR|FORCE_COLOR|BRANDAPI_(CONFIG_DIR|DB|PROFILE))$/i;

/** JavaScript's own limit, in MB: beyond the watchdog's, which ends it with a sentence instead of a stack trace. */
const heap = "--max-old-space-size=2048";

/** Its watchdog takes a moment to end it, more on a busy machine. */
const patienceMs = 500;

/**
 * Runs a command line in a process of its own, which is ended wherever it is: by a signal, at its time limit, and when
 * this process dies. SQLite works without a pause, and only a process can be stopped from outside.
 * @returns its exit code; what it had to say it has said
 * @throws the signal's reason, the time limit's error, and UsageError where it needed too much memory
 */
export async function runApart(
  argv: readonly string[],
  { deadline }: Apart,
  { env, clock, signal }: Pick<Deps, "env" | "clock" | "signal">,
): Promise<ExitCode> {
  const script = fileURLToPath(new URL("./apart.js", import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, heap, script, ...argv], {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => needed.test(name))),
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
  const lifeline = child.stdio[3] as Duplex;
  let told = "";
  lifeline.on("data", (data: Buffer) => (told += String(data))).on("error", () => {});
  const ended = new AbortController();
  const after = (ms: number, call: () => void) => clock.sleep(ms, ended.signal).then(call, () => {});
  const cut = () => {
    lifeline.destroy();
    void after(patienceMs, () => child.kill("SIGKILL"));
  };
  let isLate = false;
  if (deadline)
    void after(deadline.ms, () => {
      isLate = true;
      cut();
    });
  signal.addEventListener("abort", cut);
  if (signal.aborted) cut();
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    if (deadline && isLate) throw deadline.error;
    if (code === null) throw outOfMemory(told);
    return code as ExitCode;
  } finally {
    ended.abort();
    signal.removeEventListener("abort", cut);
  }
}

function outOfMemory(told: string): UsageError {
  const message = told.includes("memory")
    ? "This needs too much memory: it was stopped at 1 GB."
    : "The process that worked on this was ended from outside: it may have run out of memory.";
  return new UsageError(message, { hint: "ask for less: fewer rows, shorter texts, a narrower condition" });
}
