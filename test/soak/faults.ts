import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Seen {
  name: string;
  code: number;
  said: string[];
}

/** Runs the fault matrix, and puts what a person saw in each case into a Markdown table. */
export function collectFaults(root: string): { passed: boolean; table: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-faults-"));
  const path = join(folder, "seen.ndjson");
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts", "test/faults"];
  try {
    const { status } = spawnSync(process.execPath, args, {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, FAULTS_SEEN: path },
    });
    const cases = readFileSync(path, "utf8").trimEnd().split("\n");
    const seen = cases.map((line) => JSON.parse(line) as Seen);
    return { passed: status === 0, table: asTable(seen) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function asTable(seen: readonly Seen[]): string[] {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = seen.map(
    ({ name, code, said }) => `| ${cell(name)} | ${code} | ${cell(said.join("<br>")) || "nothing wrong"} |`,
  );
  return ["| what happens | exit | what the person sees |", "| --- | ---: | --- |", ...new Set(rows)];
}
