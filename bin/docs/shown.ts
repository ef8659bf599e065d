import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answers } from "./answers.js";
import { runProgram } from "./program.js";
import stored from "./shown.json" with { type: "json" };

type Name = (typeof answers)[number]["name"];

/** The first lines that `brandapi query` printed for each answer, of the demo's mirror: `npm run docs -- --answers`. */
export const shown: Record<Name, string> = stored;

const mostLines = 4;
const mostColumns = 105;

/** Runs the demo, and returns what each answer prints of its mirror today. */
export async function showAnswers(): Promise<Record<string, string>> {
  const home = mkdtempSync(join(tmpdir(), "brandapi-docs-"));
  try {
    await runProgram(["demo", "--out", "demo", "--quiet"], { home });
    const texts: Record<string, string> = {};
    for (const { name, sql } of answers) {
      const printed = await runProgram(["query", sql, "--db", join(home, "demo/demo.sqlite")], { home });
      const lines = printed.trimEnd().split("\n");
      const first = lines
        .slice(0, mostLines)
        .map((line) => (line.length > mostColumns ? `${line.slice(0, mostColumns)}…` : line.trimEnd()));
      texts[name] = [...first, ...(lines.length > mostLines ? ["…"] : [])].join("\n");
    }
    return texts;
  } finally {
    rmSync(home, { recursive: true });
  }
}
