import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.js";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
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
      expect(wrong === "" || readme.includes(wrong), `${words.join(" ")}: ${wrong}`).toBe(true);
    }
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
    for (const message of messages) expect(printed.includes(message), message).toBe(true);
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

describe("the map of the code, src/README.md,", () => {
  const map = readFileSync(new URL("src/README.md", root), "utf8");

  test("names files that are there", () => {
    const named = [...map.matchAll(/`([\w./-]+\.(?:ts|js))`/g)].map(([, file = ""]) => file);
    expect(named.length).toBeGreaterThan(40);
    const places = (file: string) => [`src/${file}`, file, ...rooms().map((room) => `src/${room}/${file}`)];
    const missing = named.filter(
      (file) => !/NAME|^index/.test(file) && !places(file).some((place) => existsSync(new URL(place, root))),
    );
    expect(missing).toEqual([]);
  });

  test("leaves out no room, and no file beside them", () => {
    for (const room of rooms()) expect(map).toContain(`\`${room}/\``);
    const files = readdirSync(new URL("src/", root)).filter((file) => file.endsWith(".ts"));
    for (const file of files) expect(map).toContain(`\`${file}\``);
  });

  test("leaves out no folder of the tests", () => {
    const folders = readdirSync(new URL("test/", root), { withFileTypes: true });
    const own = folders.filter((entry) => entry.isDirectory() && !rooms().includes(entry.name));
    for (const { name } of own) expect(map).toMatch(new RegExp(`\`(test/)?${name}/|npm run ${name}\\b`));
  });

  test("names commands of npm that are there, as the README does", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
      scripts: object;
    };
    const named = [...`${map}${readme}`.matchAll(/\bnpm run ([\w-]+)/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(10);
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });

  test("its lines end at 110 characters, those of tables excepted", () => {
    expect(map.split("\n").filter((line) => line.length > 110 && !line.startsWith("|"))).toEqual([]);
  });

  function rooms(): string[] {
    const all = readdirSync(new URL("src/", root), { withFileTypes: true });
    return all.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }
});

describe("every query of the README runs on the demo's mirror", () => {
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
