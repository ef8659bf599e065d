import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { commands } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { endless, endlessMirror } from "../support/hostile-mirror.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { type RunningProgram, spawnBrandapi } from "../support/process.js";
import { begin, stop } from "../support/stop.js";

/** The contract, section 5: a signal ends any command within two seconds, a running statement included. */
const signals = [
  { name: "SIGINT", code: 130 },
  { name: "SIGTERM", code: 143 },
] as const;

/** Starts a command, and resolves when it does what takes longest. */
type Phase = (home: string) => Promise<RunningProgram>;

/** Where each command would stay for ever, were it not for the signal. */
const longest: Record<string, Phase> = {
  login: (home) => asking(home, ["login", "--key-stdin"], { stdin: "brk_test" }),
  whoami: (home) => asking(home, ["whoami"]),
  doctor: (home) => asking(home, ["doctor", "--max-wait", "5m"]),
  sync: (home) => asking(home, ["sync"]),
  verify: async (home) => asking(home, ["verify", "--db", await mirrorOfOrders(home)]),
  download: (home) => asking(home, ["download", "content"]),
  sandbox: (home) => saying(/BRANDAPI_KEY/, home, ["sandbox"]),
  export: async (home) => {
    const db = await mirrorOfOrders(home);
    return await saying(/^id,/, home, [
      "export",
      "orders",
      "--csv",
      "--where",
      `(${endless}) > 0`,
      "--db",
      db,
    ]);
  },
  query: async (home) =>
    saying(/^count/, home, ["query", endless, "--csv", "--db", await mirrorOfOrders(home)]),
  tables: async (home) =>
    silent(home, ["tables", "never-counted", "--db", await endlessMirror(home, "changes")]),
  changes: async (home) => silent(home, ["changes", "--db", await endlessMirror(home, "changes")]),
  report: async (home) => silent(home, ["report", "--db", await endlessMirror(home, "sync_runs")]),
  status: async (home) => silent(home, ["status", "--db", await endlessMirror(home, "sync_runs")]),
  demo: (home) => saying(/first sync reads everything/, home, ["demo", "--orders", "50000"]),
};

/** Once the API was asked, which never answers. */
async function asking(
  home: string,
  args: string[],
  options: { stdin?: string } = {},
): Promise<RunningProgram> {
  let asked = () => {};
  const underWay = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = createServer(() => asked());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const env = {
    BRANDAPI_BASE_URL: `http://127.0.0.1:${port}/api/brand/v1`,
    BRANDAPI_KEY: "brk_test",
    BRANDAPI_RATE_LIMIT: "none",
  };
  const program = spawnBrandapi(args, { home, env, ...options });
  await Promise.race([underWay, program.ended]);
  return program;
}

async function saying(words: RegExp, home: string, args: string[]): Promise<RunningProgram> {
  const program = spawnBrandapi(args, { home });
  await program.until(words);
  return program;
}

async function silent(home: string, args: string[]): Promise<RunningProgram> {
  const program = spawnBrandapi(args, { home });
  await begin();
  return program;
}

const ofSqlite = ["export", "query", "tables", "changes", "report", "status"];

/** They read small files and a row or two, and ask nobody. */
const waitForNothing = ["completion", "cron", "logout", "profiles"];

test("every command is stopped here where it takes longest", () => {
  const names = [...Object.keys(longest), ...waitForNothing];
  expect(names.sort()).toEqual(commands.map((one) => one.name()).sort());
});

test.each(
  Object.entries(longest).flatMap(([name, start]) =>
    signals.map((signal) => [signal.name, name, signal.code, start] as const),
  ),
)("%s ends `%s` where it takes longest, with %i", async (signal, name, code, start) => {
  const ended = await stop(await start(makeHome()), signal);
  // While SQLite works nobody listens, and the system ends the process.
  expect(ended).toMatchObject(ofSqlite.includes(name) ? { code: null, signal } : { code, signal: null });
});
