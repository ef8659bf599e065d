import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.js";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { generatedSections, regenerate } from "./generate.js";
import { anchorOf, codeBlocks, generatedNames, headings, prose } from "./markdown.js";
import { parses } from "./parses.js";
import { sourceText } from "./source.js";
import { brandapiCalls, typedLines } from "./words.js";

const root = new URL("../../", import.meta.url);
const path = fileURLToPath(new URL("README.md", root));
const readme = readFileSync(path, "utf8");
const blocks = codeBlocks(readme);

describe("the generated parts of the README", () => {
  test("are what the registries say", async () => {
    const wanted = await regenerate(readme);
    if (process.env.DOCS === "write") writeFileSync(path, wanted);
    else expect(readme === wanted, "README.md is out of date: run `npm run docs`").toBe(true);
  });

  test("leave no part out, and none stands twice", async () => {
    expect(generatedNames(readme).toSorted()).toEqual([...(await generatedSections()).keys()].toSorted());
  });
});

describe("the README's own words", () => {
  const calls = blocks
    .filter(({ language }) => language === "console")
    .flatMap(({ text }) => typedLines(text).flatMap(brandapiCalls))
    .map((words) => words.join(" "));

  test.each(commands)("$name has an example with its output", ({ name }) => {
    expect(calls.filter((call) => call.split(" ")[0] === name)).not.toEqual([]);
  });

  test("every `brandapi` call in it parses", async () => {
    const shown = blocks.flatMap(({ language, text }) =>
      language === "console" ? typedLines(text) : language === "sh" || language === "crontab" ? text.split("\n") : [],
    );
    const found = shown.flatMap(brandapiCalls);
    expect(found.length).toBeGreaterThan(25);
    for (const words of found) expect(await parses(words), words.join(" ")).toBe("");
  });

  test("every variable of the environment that the program reads is in it, and no other", () => {
    const names = (text: string) => [...new Set(text.match(/\bBRANDAPI_[A-Z_]+\b/g))].toSorted();
    expect(names(readme)).toEqual(names(sourceText()));
  });

  test("every message of the troubleshooting table is one that the program prints", () => {
    const rows = readme.split("## Troubleshooting")[1]?.split("\n## ")[0]?.split("\n") ?? [];
    const messages = rows
      .filter((row) => row.startsWith("| `"))
      .flatMap((row) => [...(row.split(" | ")[0]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, text = ""]) => text))
      .filter((text) => text !== "brandapi: not found" && !text.startsWith("Older than"));
    expect(messages.length).toBeGreaterThan(12);
    const printed = sourceText();
    for (const message of messages) expect(printed, message).toContain(message);
  });

  test("its links lead somewhere", () => {
    const anchors = new Set(headings(readme).map(anchorOf));
    const links = [...prose(readme).matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(links.length).toBeGreaterThan(15);
    for (const link of links) {
      const isThere = link.startsWith("#") ? anchors.has(link.slice(1)) : existsSync(new URL(link, root));
      expect(isThere, link).toBe(true);
    }
  });

  test("its lines end at 110 characters, those of tables excepted", () => {
    const long = readme.split("\n").filter((line) => line.length > 110 && !/^(\||<details>)/.test(line));
    expect(long).toEqual([]);
  });

  test("it names no folder of the machine that it was written on", () => {
    expect(readme).not.toMatch(/\/(work|root|tmp\/[a-z]*-)\//);
  });
});

describe("every query of the README runs on the demo's mirror", () => {
  const home = makeHome();
  const db = `${home}/demo/demo.sqlite`;
  const statements = blocks.filter(({ language }) => language === "sql").map(({ text }) => text.trim());

  beforeAll(async () => {
    expect((await brandapi("demo --out demo --orders 1500 --quiet", { home })).code).toBe(0);
  }, 60_000);

  test("there is one for each table and view", () => {
    expect(statements.length).toBeGreaterThan(25);
  });

  test.each(statements)("%s", async (statement) => {
    const { code, out, err } = await brandapi(["query", statement, "--json", "--db", db]);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(out)).not.toEqual([]);
  });
});
