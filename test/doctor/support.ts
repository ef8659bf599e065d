import { cpSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import { systemClock } from "../../src/deps.js";
import { atFileEnd } from "../support/file-end.js";
import { makeHome } from "../support/home.js";
import { type Sandbox, startSandbox } from "../support/old-sandbox/index.js";
import { brandapi, type ProgramOptions } from "../support/program.js";

/** A line of `doctor --json`. */
export interface Line {
  check: string;
  state: "ok" | "warning" | "failed" | "unchecked";
  text: string;
  hint: string | null;
  exit_code: number;
}

export interface Visit {
  code: number;
  lines: Line[];
  /** The lines of one check. */
  of(check: string): Line[];
  /** The names of the checks with a line of this state, each once. */
  named(state: Line["state"]): string[];
}

/** Somebody who has logged in and synced: all is well until a test sees to it that it is not. */
export interface Patient {
  sandbox: Sandbox;
  home: string;
  dbPath: string;
  configDir: string;
  run(command: string, options?: ProgramOptions): ReturnType<typeof brandapi>;
  /** Runs `doctor`, and reads its lines. The key is never among them. */
  visit(options?: ProgramOptions & { flags?: string }): Promise<Visit>;
  /** What another program does to the mirror. */
  edit(sql: string): void;
}

let shared: Promise<{ sandbox: Sandbox; home: string }> | undefined;

async function prepare(): Promise<{ sandbox: Sandbox; home: string }> {
  const sandbox = await startSandbox({ orders: 400, rateLimit: null, pace: 0 }, { clock: systemClock });
  atFileEnd(() => {
    shared = undefined;
    return sandbox.close();
  });
  const home = makeHome();
  const login = await brandapi(["login", "--key-stdin", "--base-url", sandbox.baseUrl], {
    home,
    stdin: sandbox.key,
  });
  expect(login.code, login.err).toBe(0);
  const synced = await brandapi("sync orders roster gifts", { home });
  expect(synced.code, synced.err).toBe(0);
  return { sandbox, home };
}

/** One sandbox and one sync for a file's tests; each has a home folder of its own, which is a copy. */
export async function patient(): Promise<Patient> {
  shared ??= prepare();
  const { sandbox, home: prepared } = await shared;
  sandbox.intercept = undefined;
  const home = makeHome();
  cpSync(prepared, home, { recursive: true });
  const dbPath = join(home, ".local/share/brandapi/default.sqlite");
  const run: Patient["run"] = (command, options = {}) => brandapi(command, { home, ...options });
  return {
    sandbox,
    home,
    dbPath,
    configDir: join(home, ".config/brandapi"),
    run,
    async visit({ flags = "", ...options } = {}) {
      const { code, out, err } = await run(`doctor --json ${flags}`, options);
      expect(out + err).not.toContain(sandbox.key);
      const printed = out
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Line);
      const lines = printed.filter((line) => "check" in line);
      const of = (check: string) => lines.filter((line) => line.check === check);
      const named = (state: Line["state"]) => [
        ...new Set(lines.filter((line) => line.state === state).map(({ check }) => check)),
      ];
      return { code, lines, of, named };
    },
    edit(sql) {
      const db = new Sqlite(dbPath);
      db.exec(sql);
      db.close();
    },
  };
}
