import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Guard, guards } from "./guards.js";

/**
 * Breaks each guarding line in turn, in a copy of the project, and runs the tests that should see it. One that they do
 * not see has no guard of its own. `npm run mutation -- [part of a file's name]`. Ends with 1 when one survives.
 */
const root = fileURLToPath(new URL("../../..", import.meta.url));
const quick = ["test/sync", "test/scenarios", "test/faults/drift.test.ts", "test/properties"];
const only = process.argv[2] ?? "";
const say = (line: string) => void process.stdout.write(`${line}\n`);

const copy = mkdtempSync(join(tmpdir(), "brandapi-mutation-"));
// Some tests run the program as another user.
chmodSync(copy, 0o755);
for (const part of readdirSync(root))
  if (!["node_modules", "dist", ".git"].includes(part))
    cpSync(join(root, part), join(copy, part), { recursive: true });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));

const survivors: Guard[] = [];
const chosen = guards.filter(({ file }) => file.includes(only));
for (const { file, line } of guards)
  if (!readFileSync(join(copy, file), "utf8").includes(line))
    throw new Error(`The guard is no longer in ${file}: ${line}`);
// A test that fails by itself would see everything.
const needed = [...new Set(chosen.flatMap(({ tests = quick }) => tests))];
if (!(await passes(needed, "inherit")))
  throw new Error("The tests fail on the unbroken program: nothing can be said.");
for (const guard of chosen) {
  const seen = await isSeen(guard);
  if (!seen) survivors.push(guard);
  say(
    `${seen ? "seen    " : "SURVIVED"}  ${guard.file}: ${oneLine(guard.line)}  ->  ${oneLine(guard.broken) || "(nothing)"}`,
  );
}
say(`${chosen.length - survivors.length} of ${chosen.length} broken guards were seen.`);
process.exitCode = survivors.length > 0 ? 1 : 0;

async function isSeen({ file, line, broken, tests = quick }: Guard): Promise<boolean> {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  writeFileSync(
    path,
    source.replace(line, () => broken),
  );
  try {
    // One after the other, the quickest first: most are seen within seconds.
    for (const folder of tests) if (!(await passes([folder]))) return true;
    return false;
  } finally {
    writeFileSync(path, source);
  }
}

async function passes(tests: readonly string[], stdio: "ignore" | "inherit" = "ignore"): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const flags = [
    "run",
    "--config",
    "test/vitest.config.ts",
    "--bail",
    "1",
    "--testTimeout",
    "300000",
    "--reporter",
    "dot",
  ];
  const env = { ...process.env, PROPERTY_RUNS: "40", PROPERTY_SHRINK: "no" };
  const args = [vitest, ...flags, ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, stdio, env, detached: true });
  const stop = () => endAll(child);
  const timer = setTimeout(stop, 400_000);
  process.once("exit", stop);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  process.off("exit", stop);
  stop();
  return code === 0;
}

/** A worker that goes round for ever outlives the runner that gave it up. */
function endAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
