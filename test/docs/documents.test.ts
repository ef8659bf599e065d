import { existsSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { documents } from "./documents.js";
import { generatedSections, regenerate } from "./generate.js";
import { anchorOf, codeBlocks, generatedNames, headings, prose } from "./markdown.js";
import { parses } from "./parses.js";
import { sourceText } from "./source.js";
import { brandapiCalls, typedLines } from "./words.js";

const all = documents.map(({ text }) => text).join("\n");
const blocks = codeBlocks(all);

describe("the generated parts of the documents", () => {
  test.each(documents)("$path: are what the registries say", async ({ path, text, url }) => {
    const wanted = await regenerate(text);
    if (process.env.DOCS === "write") writeFileSync(url, wanted);
    else expect(text === wanted, `${path} is out of date: run \`npm run docs\``).toBe(true);
  });

  test("leave no part out, and none stands twice", async () => {
    expect(generatedNames(all).toSorted()).toEqual([...(await generatedSections()).keys()].toSorted());
  });
});

test("the README is short: what takes longer to say has a page of its own", () => {
  expect(documents[0]?.text.split("\n").length).toBeLessThanOrEqual(250);
});

describe("the documents' own words", () => {
  const calls = blocks
    .filter(({ language }) => language === "console")
    .flatMap(({ text }) => typedLines(text).flatMap(brandapiCalls))
    .map((words) => words.join(" "));

  test.each(commands.map((one) => one.name()))("%s has an example with its output", (name) => {
    expect(calls.filter((call) => call.split(" ")[0] === name)).not.toEqual([]);
  });

  test("every `brandapi` call in them parses", async () => {
    const shown = blocks.flatMap(({ language, text }) =>
      language === "console"
        ? typedLines(text)
        : language === "sh" || language === "crontab"
          ? text.split("\n")
          : [],
    );
    const found = shown.flatMap(brandapiCalls);
    expect(found.length).toBeGreaterThan(25);
    for (const words of found) {
      const wrong = await parses(words);
      // A mistake may be shown, with what the program says of it.
      expect(wrong === "" || all.includes(wrong), `${words.join(" ")}: ${wrong}`).toBe(true);
    }
  });

  test("every variable of the environment that the program reads is in them, and no other", () => {
    const names = (text: string) => [...new Set(text.match(/\bBRANDAPI_[A-Z_]+\b/g))].toSorted();
    expect(names(all)).toEqual(names(sourceText()));
  });

  test("every message of the troubleshooting table is one that the program prints", () => {
    const rows = all.split("## Troubleshooting")[1]?.split("\n#")[0]?.split("\n") ?? [];
    const messages = rows
      .filter((row) => row.startsWith("| `"))
      .flatMap((row) => [...(row.split(" | ")[0]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, text = ""]) => text))
      .filter((text) => text !== "brandapi: not found" && !text.startsWith("Older than"));
    expect(messages.length).toBeGreaterThan(12);
    const printed = sourceText();
    for (const message of messages) expect(printed.includes(message), message).toBe(true);
  });

  test.each(documents)("$path: its links lead somewhere", ({ text, url }) => {
    for (const [, link = ""] of prose(text).matchAll(/\]\(([^)]+)\)/g)) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? text : existsSync(new URL(file, url)) && readLinked(new URL(file, url));
      expect(target, link).not.toBe(false);
      if (anchor !== undefined) expect(headings(String(target)).map(anchorOf), link).toContain(anchor);
    }
  });

  test.each(documents)("$path: its lines end at 110 characters, those of tables excepted", ({ text }) => {
    const long = text.split("\n").filter((line) => line.length > 110 && !/^(\||<details>)/.test(line));
    expect(long).toEqual([]);
  });

  test("they name no folder of the machine that they were written on", () => {
    expect(all).not.toMatch(/\/(work|root|tmp\/[a-z]*-)\//);
  });

  function readLinked(url: URL): string {
    return url.pathname.endsWith(".md") ? readFileSync(url, "utf8") : "";
  }
});

describe("every query of the documents runs on the demo's mirror", () => {
  const home = makeHome();
  const db = `${home}/demo/demo.sqlite`;
  const statements = blocks.filter(({ language }) => language === "sql").map(({ text }) => text.trim());

  beforeAll(async () => {
    const { code, err } = await spawnBrandapi(["demo", "--out", "demo", "--quiet"], { home }).ended;
    expect(code, err).toBe(0);
  }, 60_000);

  test("there is one for each table and view", () => {
    expect(statements.length).toBeGreaterThan(25);
  });

  test.each(statements)("%s", (statement) => {
    const mirror = new Database(db, { readonly: true });
    try {
      expect(mirror.prepare(statement).all()).not.toEqual([]);
    } finally {
      mirror.close();
    }
  });
});
