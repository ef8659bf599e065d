import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { documents, root } from "../../bin/docs/documents.js";
import { regenerate } from "../../bin/docs/generate.js";
import { parses } from "./parses.js";
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
  // A page may show an invalid command together with its error message.
  for (const words of typed.flatMap(brandapiCalls)) {
    const wrong = await parses(words);
    expect(wrong === "" || text.includes(wrong), `${words.join(" ")}: ${wrong}`).toBe(true);
  }
});

test.each(pages)("the source files named in %s exist", (_, { text, url }) => {
  // A recipe may name files that the reader is supposed to create.
  const named = text.replace(/Create `[^`]+`/g, "").matchAll(/`([\w./-]+\.ts)`/g);
  const unknown = Array.from(named, ([, file = ""]) => file).filter(
    (file) => !existsSync(new URL(file, url)) && !existsSync(new URL(file, root)),
  );
  expect(unknown).toEqual([]);
});
