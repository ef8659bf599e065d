import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { names, pageOf } from "./brands.js";
import { chromium, openBrowser, type Page } from "./chromium.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const widths = [375, 390, 768, 1280] as const;
/** Reads the text of a PDF; from the package `poppler-utils`. */
const hasPdftotext = spawnSync("pdftotext", ["-v"]).error === undefined;
/** Wide and narrow fonts; missing ones fall back to the system font. */
const fonts = ["DejaVu Sans", "Verdana", "Noto Sans", "Liberation Sans", "monospace"];

/** Skipped without Chromium: `apt-get install chromium`, or set `CHROMIUM` to its path. */
describe.skipIf(chromium === undefined)("the report page in Chromium", () => {
  const home = makeHome();
  let browser: Page;

  beforeAll(async () => {
    for (const name of names) writeFileSync(fileOf(name), await pageOf(name));
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => await browser?.close());

  const fileOf = (name: string) => join(home, `${name}.html`);

  describe.each(names)("of %s", (name) => {
    test.each(widths)("fits %i pixels, loads nothing and logs nothing", async (width) => {
      await browser.open(fileOf(name), { width });
      const room = await browser.ask<number[]>("[document.documentElement.scrollWidth, innerWidth]");
      expect(room).toEqual([width, width]);
      expect(browser.heard()).toEqual({ console: [], requests: [String(pathToFileURL(fileOf(name)))] });
    });

    test.each(widths)("has no text outside the margins at %i pixels", async (width) => {
      await browser.open(fileOf(name), { width });
      const outside = await browser.ask<string[]>(`(() => {
        const style = getComputedStyle(document.body);
        const body = document.body.getBoundingClientRect();
        const [left, right] = [body.left + parseFloat(style.paddingLeft), body.right - parseFloat(style.paddingRight)];
        return [...document.querySelectorAll("h1, h2, h3, p, dt, dd b, th, td, caption, figcaption, text, rect")]
          .filter((one) => one.getClientRects().length > 0)
          .filter((one) => one.getBoundingClientRect().left < left - 1 || one.getBoundingClientRect().right > right + 1)
          .map((one) => one.outerHTML.slice(0, 80));
      })()`);
      expect(outside).toEqual([]);
    });

    test.each([
      ["light", {}],
      ["dark", { dark: true }],
      ["light on a phone", { width: 375 }],
    ])("passes the accessibility checks of axe: %s", async (_, look) => {
      await browser.open(fileOf(name), look);
      await browser.ask(`${axe}; 0`);
      const { violations } = await browser.ask<{ violations: { id: string; nodes: { html: string }[] }[] }>(
        "axe.run(document, { resultTypes: ['violations'] })",
      );
      expect(violations.map(({ id, nodes }) => [id, nodes.slice(0, 2).map(({ html }) => html)])).toEqual([]);
      expect(browser.heard().requests).toHaveLength(1);
    });

    test.each(fonts)("fits an A4 page in %s", async (font) => {
      await browser.open(fileOf(name), { print: true, width: 680 });
      await browser.ask(`document.body.style.fontFamily = ${JSON.stringify(font)}; 0`);
      const [room = 0, width = 0] = await browser.ask<number[]>(
        "[document.documentElement.scrollWidth, innerWidth]",
      );
      expect(room).toBeLessThanOrEqual(width);
    });
  });

  test("shows the five key figures of a currency in one row at 1280 pixels", async () => {
    await browser.open(fileOf("a busy brand"), { width: 1280 });
    const rows = await browser.ask<number[][]>(
      "[...document.querySelectorAll('dl')].map((list) => [...list.children].map((one) => one.offsetTop))",
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const tops of rows) expect([tops.length, new Set(tops).size]).toEqual([5, 1]);
  });

  test.each(widths)(
    "draws charts as wide as the text at %i pixels, without scaling their text",
    async (width) => {
      await browser.open(fileOf("a busy brand"), { width });
      const charts = await browser.ask<[number, number, string][]>(
        `[...document.querySelectorAll("figure")].map((one) => [
        one.parentElement.getBoundingClientRect().right - one.querySelector(".chart").getBoundingClientRect().right,
        one.querySelector(".chart text").getBoundingClientRect().left - one.parentElement.getBoundingClientRect().left,
        getComputedStyle(one.querySelector("text")).fontSize,
      ])`,
      );
      expect(charts.length).toBeGreaterThan(1);
      for (const [right, left, size] of charts) {
        expect(Math.abs(right)).toBeLessThan(1);
        expect(left).toBeLessThan(40);
        expect(size).toBe("13px");
      }
    },
  );

  describe.each(["A4", "Letter"] as const)("printed on %s", (paper) => {
    const print = async (name: string) => {
      await browser.open(fileOf(name));
      const file = join(home, `${name}-${paper}.pdf`);
      writeFileSync(file, await browser.pdf(paper));
      return file;
    };

    test("a month of three currencies fits on six pages", async () => {
      const pdf = readFileSync(await print("a busy brand"), "latin1");
      const pages = pdf.match(/\/Type \/Page\b/g) ?? [];
      expect(pages.length).toBeGreaterThan(2);
      expect(pages.length).toBeLessThanOrEqual(6);
    });

    test.skipIf(!hasPdftotext).each(names)(
      "%s has no page with only a title, no heading at the end of a page and no single table row",
      async (name) => {
        const file = await print(name);
        const textsOf = (selector: string) =>
          browser.ask<string[]>(`[...document.querySelectorAll("${selector}")].map((one) => one.innerText)`);
        const headings = await textsOf("h1, h2, h3");
        const captions = (await textsOf("caption, figcaption")).map((text) => text.split(" from ")[0] ?? "");
        const firstColumns = await textsOf("thead th:first-child");
        const pages = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" })
          .split("\f")
          .slice(0, -1);
        const isHeading = (line = "") =>
          headings.includes(line) || captions.some((caption) => line.startsWith(caption));
        for (const [index, page] of pages.entries()) {
          const lines = page
            .split("\n")
            .map((line) => line.trim())
            .filter((line) => line !== "");
          expect(lines.length, `lines of page ${index + 1}`).toBeGreaterThan(5);
          expect(isHeading(lines.at(-1)), `last line of page ${index + 1}: ${lines.at(-1)}`).toBe(false);
          // A table that continues from the page before repeats its header.
          const continued = index > 0 && firstColumns.some((column) => lines[0]?.startsWith(`${column} `));
          if (continued)
            expect(lines.slice(1, 4).some(isHeading), `first rows of page ${index + 1}`).toBe(false);
        }
      },
    );
  });

  test("does not run HTML in names from the API", async () => {
    await browser.open(fileOf("hostile names"));
    expect(
      await browser.ask(
        "window.ran === undefined && document.querySelectorAll('script, img, iframe').length",
      ),
    ).toBe(0);
    expect(await browser.ask("document.body.textContent.includes('<script>window.ran=1</script>')")).toBe(
      true,
    );
  });
});
