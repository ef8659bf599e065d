import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { commands, examplesOf } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { day } from "../support/records.js";
import { brandapiCalls } from "./words.js";

const sandboxCommands = ["demo", "sandbox"];
const examples = commands.flatMap((command) =>
  examplesOf(command).map((line) => ({ command: command.name(), line })),
);

let brand: TestBrand;

beforeAll(async () => {
  brand = makeBrand({ history: 30, listLimit: 8 });
  writeFileSync(join(brand.home, "own.sql"), "SELECT * FROM sales_by_month WHERE month = :month");
  mkdirSync(join(brand.home, "disk"));
  expect((await brand.run("sync")).code).toBe(0);
  // One example reads the data as of 30 days ago, so the first sync must be older.
  brand.pass(31 * day);
  expect((await brand.run("sync")).code).toBe(0);
  expect((await brand.run("backup")).code).toBe(0);
});

const lines = examples.filter(({ command }) => !sandboxCommands.includes(command)).map(({ line }) => line);

test.each(lines)("the help example `%s` succeeds", async (line) => {
  const [words = []] = brandapiCalls(line);
  const [backup = ""] = readdirSync(join(brand.home, "backups"));
  const hosts = brand.sql<{ id: string; username: string }>(
    "SELECT id, host_username AS username FROM hosts WHERE host_username IS NOT NULL ORDER BY id",
  );
  const [byHandle, byPrefix, byId] = hosts;
  const values: Readonly<Record<string, string | undefined>> = {
    "/mnt/disk/brandapi": join(brand.home, "disk"),
    FILE: join(brand.home, "backups", backup),
    ada: byHandle?.username,
    "3f0c9a52": byPrefix?.id.slice(0, 13),
    "3f0c9a52-1b7e-4c0d-9f3a-6a2d1e5b8c47": byId?.id,
  };
  const argv = words.map((word) => values[word] ?? word);
  if (argv[0] === "forget" && !argv.includes("--yes")) argv.push("--yes");
  const { code, err } = await brand.run(argv, { cwd: brand.home, stdin: brand.key });
  expect(code, err).toBe(0);
});

const sandboxLines = examples.filter(({ command }) => command === "sandbox").map(({ line }) => line);

test.each(sandboxLines)("the help example `%s` starts a server, which stops on SIGINT", async (line) => {
  const [words = []] = brandapiCalls(line);
  const values: Readonly<Record<string, string>> = { "100000": "300", "4010": "0" };
  const argv = words.map((word) => values[word] ?? word);
  const signal = AbortSignal.abort(new Stopped("SIGINT"));
  const { code, err } = await brandapi(argv, { home: makeHome(), signal });
  expect(code, err).toBe(130);
});

test("demo's help contains exactly three examples, which the tests for demo run with fewer orders", () => {
  const demoLines = examples.filter(({ command }) => command === "demo").map(({ line }) => line);
  expect(demoLines).toEqual([
    "brandapi demo",
    "brandapi demo --challenge",
    "brandapi demo --out /tmp/demo --orders 100000",
  ]);
});
