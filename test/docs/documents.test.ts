import { existsSync } from "node:fs";
import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { documents, regenerate, root } from "../../bin/docs/generate.js";
import { UsageError } from "../../src/errors.js";
import { buildProgram } from "../../src/program.js";
import { findResource } from "../../src/resources/registry.js";
import { testDeps } from "../support/program.js";
import { brandapiCalls, typedLines } from "./words.js";

const pages = documents.map((page) => [page.path, page] as const);

test.each(pages)("the generated parts of %s are up to date", (path, { text }) => {
  expect(text === regenerate(text), `${path} is out of date: run \`npm run docs\``).toBe(true);
});

test.each(pages)("the links and commands in %s are valid", async (_, { text, url }) => {
  for (const [, link = ""] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g))
    if (!link.includes("://")) expect(existsSync(new URL(link, url)), link).toBe(true);
  const blocks = [...text.matchAll(/^ *```(console|sh)\n([\s\S]*?)^ *```$/gm)];
  const typed = blocks.flatMap(([, language, body = ""]) =>
    language === "sh" ? body.split("\n") : typedLines(body),
  );
  // A page can show an invalid command with its error message.
  for (const words of typed.flatMap(brandapiCalls)) {
    const wrong = await findUsageErrors(words);
    expect(wrong === "" || text.includes(wrong), `${words.join(" ")}: ${wrong}`).toBe(true);
  }
});

test.each(pages)("the source files named in %s exist", (_, { text, url }) => {
  // A page can name files that it asks the reader to create.
  const named = text.replace(/Create `[^`]+`/g, "").matchAll(/`([\w./-]+\.ts)`/g);
  const unknown = Array.from(named, ([, file = ""]) => file).filter(
    (file) => !existsSync(new URL(file, url)) && !existsSync(new URL(file, root)),
  );
  expect(unknown).toEqual([]);
});

/**
 * Parses a command line without running the command. Returns the error message, or an empty string if the command line
 * is valid.
 */
async function findUsageErrors(words: readonly string[]): Promise<string> {
  const program = await buildProgram(testDeps());
  const wrong: string[] = [];
  for (const command of program.commands)
    command.action((...received) => {
      const takesResources = command.registeredArguments.some((one) => one.name() === "resource");
      const names = takesResources ? [received[0] ?? []].flat() : [];
      wrong.push(
        ...names.filter((name) => !findResource(name)).map((name) => `Unknown resource: \`${name}\`.`),
      );
    });
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof UsageError)) throw error;
    if (!("exitCode" in error) || error.exitCode !== 0) wrong.push(error.message);
  }
  return wrong.join("; ");
}
