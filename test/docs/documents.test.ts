import { existsSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { documents } from "../../bin/docs/documents.js";
import { generatedSections, regenerate } from "../../bin/docs/generate.js";
import { anchorOf, codeBlocks, generatedNames, headings, prose } from "../../bin/docs/markdown.js";
import { commands } from "../support/commands.js";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { parses } from "./parses.js";
import { brandapiCalls, typedLines } from "./words.js";

const all = documents.map(({ text }) => text).join("\n");
const blocks = codeBlocks(all);

describe("the generated parts of the documents", () => {
  test.each(documents)("$path: are what the registries say", async ({ path, text }) => {
    const wanted = await regenerate(text);
    expect(text === wanted, `${path} is out of date: run \`npm run docs\``).toBe(true);
  });

  test("leave no part out, and none stands twice", async () => {
    expect(generatedNames(all).toSorted()).toEqual([...(await generatedSections()).keys()].toSorted());
  });
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

  test.each(documents)("$path: its links lead somewhere", ({ text, url }) => {
    for (const [, link = ""] of prose(text).matchAll(/\]\(([^)]+)\)/g)) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? text : existsSync(new URL(file, url)) && readLinked(new URL(file, url));
      expect(target, link).not.toBe(false);
      if (anchor !== undefined) expect(headings(String(target)).map(anchorOf), link).toContain(anchor);
    }
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

  test("there are some", () => {
    expect(statements.length).toBeGreaterThan(15);
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
