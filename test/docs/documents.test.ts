import { existsSync, readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { documents, regenerate, root } from "../../bin/docs/generate.js";
import { formatSystemSchema } from "../../bin/docs/system-schema.js";
import { formatViews } from "../../bin/docs/views-sql.js";
import { UsageError } from "../../src/errors.js";
import { buildProgram } from "../../src/program.js";
import { findResource } from "../../src/resources/registry.js";
import { createViewSql } from "../../src/store/rebuild.js";
import { migrateSystemTables } from "../../src/store/schema.js";
import { views } from "../../src/views/all-views.js";
import { testDeps } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";
import { brandapiCalls, typedLines } from "./words.js";

const pages = documents.map((page) => [page.path, page] as const);

test.each(pages)("the generated parts of %s are up to date", (path, { text }) => {
  expect(text === regenerate(text), `${path} is out of date: run \`npm run docs\``).toBe(true);
});

test("src/store/schema.sql is up to date, and creates the same tables, columns and indexes as the migrations", async () => {
  const text = readFileSync(new URL("src/store/schema.sql", root), "utf8");
  expect(text === (await formatSystemSchema()), "schema.sql is out of date: run `npm run docs`").toBe(true);
  const [generated, migrated] = [new Sqlite(":memory:"), new Sqlite(":memory:")];
  generated.exec(text);
  migrateSystemTables(migrated);
  const select = `SELECT object.name AS object, "column".* FROM sqlite_schema AS object
    LEFT JOIN pragma_table_xinfo(object.name) AS "column" ORDER BY object.name, cid`;
  expect(generated.prepare(select).all()).toEqual(migrated.prepare(select).all());
});

test("src/views/views.sql is up to date, and differs from the stored views only in white space", () => {
  const text = readFileSync(new URL("src/views/views.sql", root), "utf8");
  expect(text === formatViews(), "views.sql is out of date: run `npm run docs`").toBe(true);
  const db = new Sqlite(":memory:");
  db.exec(text);
  const generated = db.prepare<[], string>("SELECT sql FROM sqlite_schema ORDER BY rowid").pluck().all();
  // Only white space outside string literals may differ.
  const withoutSpaces = (sql: string) => sql.replace(/('[^']*')|\s+/g, "$1");
  expect(generated.map(withoutSpaces)).toEqual(views.map(createViewSql).map(withoutSpaces));
});

test.each(pages)("the links and commands in %s are valid", async (_, { text, url }) => {
  for (const [, link = ""] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g))
    if (!link.includes("://")) expect(existsSync(new URL(link, url)), link).toBe(true);
  const blocks = [...text.matchAll(/^ *```(console|sh)\n([\s\S]*?)^ *```$/gm)];
  const typed = blocks.flatMap(([, language, body = ""]) =>
    language === "sh" ? body.split("\n") : typedLines(body),
  );
  // A page can show an invalid command if it also shows the command's error message.
  for (const words of typed.flatMap(brandapiCalls)) {
    const wrong = await findUsageErrors(words);
    expect(wrong === "" || text.includes(wrong), `${words.join(" ")}: ${wrong}`).toBe(true);
  }
});

test.each(pages)("the source files named in %s exist", (_, { text, url }) => {
  // Files that a page asks the reader to create need not exist.
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
