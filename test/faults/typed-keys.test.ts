import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { lastRun } from "../../src/mirror/last-runs.js";
import { recordRun } from "../../src/mirror/runs.js";
import { commands, programTree } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { brandapi, type ProgramOptions } from "../support/program.js";
import { filesIn } from "./matrix.js";

/** As keys look, and one that looks like nothing, known because it is in use. */
const keys = [
  "sk_live_51HqLyjWDarjtT1zdp7dc",
  "sk_thisoneisaword",
  "brk_sandbox_all_099e9da40b85c3d8",
  "Tr0ub4dor&3",
] as const;
const [, , , odd] = keys;

/** The key is nowhere in what was printed, in no file's name, and in no file but the settings. */
async function expectUnseen(key: string, argv: readonly string[], options: ProgramOptions = {}) {
  const signal = AbortSignal.timeout(20_000);
  const { code, out, err, home } = await brandapi(argv, { signal, ...options });
  expect(out + err, argv.join(" ")).not.toMatch(new RegExp(key.replace(/\W/g, "\\$&"), "i"));
  expect([2, 3], `${argv.join(" ")}: ${err}`).toContain(code);
  expect(err).toMatch(/^brandapi: .+\n {2}hint: .+\n/);
  expect(filesIn(home).filter((path) => path.includes(key))).toEqual([]);
}

test.each(keys)(
  "the key %s as an argument or as a flag's value, of any command, is refused unseen",
  async (key) => {
    const env = { BRANDAPI_KEY: odd };
    const lines = commands
      .map((one) => ({ name: one.name(), command: one }))
      .flatMap(({ name, command }) => [
        [name, key],
        [name, ...command.registeredArguments.map(() => key), key],
        [name, `--key=${key}`],
        [name, "--key", key],
        [name, `--${key}`],
        [name, `-o${key}`],
        ...[...command.options, ...programTree().options].flatMap(({ long }) => {
          if (!long || long === "--version") return [];
          return [
            [name, long, key],
            [name, `${long}=${key}`],
            [name, `${long}=a,x/${key}/y`],
            [long, key, name],
          ];
        }),
      ]);
    expect(lines.length).toBeGreaterThan(500);
    for (const line of lines) {
      await expectUnseen(key, line, { env });
      await expectUnseen(key, [...line, "--json", "--verbose"], { env });
    }
    const told = await brandapi(["status", "--profile", key], { env });
    expect(told.err).toContain("`brandapi login`, which asks for it");
    for (const line of [[key], ["help", key], ["--help", key, "x"], [key, "--help"]])
      expect(JSON.stringify(await brandapi(line, { env }))).not.toContain(key);
  },
);

test.each(["PROFILE", "DB", "BASE_URL", "CONFIG_DIR", "RATE_LIMIT"])(
  "a key in BRANDAPI_%s is refused, and not shown",
  async (name) => {
    for (const key of keys)
      for (const value of [key, `https://${key}.example/api/brand/v1`, `/tmp/${key}/x`])
        await expectUnseen(key, ["sync"], { env: { BRANDAPI_KEY: odd, [`BRANDAPI_${name}`]: value } });
  },
);

test("a key that only a profile knows is known everywhere", async () => {
  const home = makeHome();
  const folder = join(home, ".config/brandapi");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const profiles = { acme: { baseUrl: "http://127.0.0.1:1/api/brand/v1", key: odd } };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  for (const line of [["sync", odd], ["status", "--profile", odd], ["logout", "--profile", odd], [odd]])
    await expectUnseen(odd, line, { home });
});

test("what may be a key is not in the error that the mirror keeps of a run, either", async () => {
  const mirror = await makeMirror();
  const work = () => Promise.reject(new Error("Nothing is at http://127.0.0.1/sk-proj-AbCdEfGh/orders."));
  const access = { mirror, api: { stats: { requests: 0, retries: 0 } }, clock: systemClock };
  await recordRun(access, "orders", { work, outcomeOf: () => "failed" });
  const last = lastRun(mirror, "orders");
  mirror.db.close();
  expect(last?.error).toBe("Nothing is at http://127.0.0.1/[key hidden]/orders.");
});

test.each(["sk-proj-AbCdEfGh", "sk_x1", "4eC39HqLyjWDarjtT1zdp7dc", "9f86d081884c7d659a2feaa0c55ad015"])(
  "what may be a key, such as %s, is used as it was typed, and not printed back",
  async (word) => {
    for (const line of [
      ["sync", word],
      ["export", word],
      ["query", word, "--verbose", "--json"],
    ]) {
      const { code, out, err } = await brandapi(line);
      expect([2, 3]).toContain(code);
      expect(out + err).not.toContain(word);
    }
    expect((await brandapi(["sync", word])).err).toContain("Unknown resource: `[key hidden]`.");
  },
);

test.each([
  "sk_orders_2026-11-22.csv",
  "sk_opportunities.csv",
  "sk_shop_eu",
  "SK_1042_BLUE",
  "1c705cd5-97d9-468c-8814-1241c5cec1b9",
  "task_1234567890",
])("the name %s is no key", async (word) => {
  expect((await brandapi(["status", "--db", word])).err).not.toMatch(/looks like a key/);
});
