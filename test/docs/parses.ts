import { vi } from "vitest";
import { commands } from "../../src/commands/index.js";
import { findResource } from "../../src/resources/index.js";
import { brandapi } from "../support/program.js";

/**
 * Parses a command line as the program does, without running the command.
 * @returns what the program would print about it; empty where it is fine
 */
export async function parses(words: readonly string[]): Promise<string> {
  const wrong: string[] = [];
  const spies = commands.map((spec) =>
    vi.spyOn(spec, "run").mockImplementation(async ({ args }) => {
      const named = spec.arguments.some(({ syntax }) => syntax.includes("resource")) ? args : [];
      wrong.push(
        ...named.filter((name) => !findResource(name)).map((name) => `Unknown resource: \`${name}\`.`),
      );
      return 0;
    }),
  );
  try {
    const { code, err } = await brandapi(words);
    return code === 0 ? wrong.join("; ") : err;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
