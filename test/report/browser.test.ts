import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { type BrowserPage, chromium, openBrowser } from "./chromium.js";
import { brandNames, createReportPage } from "./report-pages.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const widths = [375, 768, 1280] as const;
const hasPdftotext = spawnSync("pdftotext", ["-v"]).error === undefined;
/** Wide and narrow fonts. If a font is not installed, Chromium uses the system font instead. */
const fonts = ["DejaVu Sans", "Verdana", "Noto Sans", "Liberation Sans", "monospace"];

/**
 * The browser tests are skipped if Chromium is not found. To run them, install Chromium (`apt-get install chromium`),
 * or set `CHROMIUM` to its path.
 */
describe.skipIf(chromium === undefined)("the report page in Chromium", () => {
  const home = makeHome();
  let browser: BrowserPage;

  beforeAll(async () => {
    for (const name of brandNames) writeFileSync(fileOf(name), await createReportPage(name));
    browser = await openBrowser();
  });
  afterAll(async () => await browser?.close());

  const fileOf = (name: string) => join(home, `${name}.html`);

  const findAxeViolations = async () => {
    await browser.evaluate(`${axe}; 0`);
    const { violations } = await browser.evaluate<{
      violations: { id: string; nodes: { html: string }[] }[];
    }>("axe.run(document, { resultTypes: ['violations'] })");
    return violations.map(({ id, nodes }) => [id, nodes.slice(0, 2).map(({ html }) => html)]);
  };

  describe.each(brandNames)("the report page for %s", (name) => {
    test.each(widths)(
      "at a width of %i pixels, the content fits between the margins, and the page loads no external resources",
      async (width) => {
        await browser.open(fileOf(name), { width });
        const size = await browser.evaluate<number[]>("[document.documentElement.scrollWidth, innerWidth]");
        expect(size).toEqual([width, width]);
        const outside = await browser.evaluate<string[]>(`(() => {
          const style = getComputedStyle(document.body);
          const body = document.body.getBoundingClientRect();
          const [left, right] = [body.left + parseFloat(style.paddingLeft), body.right - parseFloat(style.paddingRight)];
          return [...document.querySelectorAll("h1, h2, h3, p, dt, dd b, th, td, caption, figcaption, text, rect")]
            .filter((one) => one.getClientRects().length > 0)
            .filter((one) => one.getBoundingClientRect().left < left - 1 || one.getBoundingClientRect().right > right + 1)
            .map((one) => one.outerHTML.slice(0, 80));
        })()`);
        expect(outside).toEqual([]);
        expect(browser.activity()).toEqual({ console: [], requests: [String(pathToFileURL(fileOf(name)))] });
      },
    );

    test("the printed page fits on A4 paper in wide and narrow fonts", async () => {
      await browser.open(fileOf(name), { print: true, width: 680 });
      for (const font of fonts) {
        await browser.evaluate(`document.body.style.fontFamily = ${JSON.stringify(font)}; 0`);
        const [contentWidth = 0, width = 0] = await browser.evaluate<number[]>(
          "[document.documentElement.scrollWidth, innerWidth]",
        );
        expect(contentWidth, font).toBeLessThanOrEqual(width);
      }
    });
  });

  test.each([
    ["for a brand with many orders", "a brand with many orders", {}],
    ["in dark mode", "a brand with many orders", { dark: true }],
    ["on a phone", "a brand with many orders", { width: 375 }],
    ["for a brand with one order", "a brand with one order", {}],
    ["for a brand whose names contain HTML", "a brand whose names contain HTML", {}],
  ])("the report page passes axe's accessibility checks %s", async (_, name, options) => {
    await browser.open(fileOf(name), options);
    expect(await findAxeViolations()).toEqual([]);
    expect(browser.activity().requests).toHaveLength(1);
  });

  test("the report page hides the less important columns and labels on a phone", async () => {
    const countVisible = async (width: number) => {
      await browser.open(fileOf("a brand with many orders"), { width });
      return await browser.evaluate<number>(
        "[...document.querySelectorAll('.spare')].filter((one) => one.getClientRects().length > 0).length",
      );
    };
    expect(await countVisible(1280)).toBeGreaterThan(10);
    expect(await countVisible(375)).toBe(0);
  });

  test("at a width of 1280 pixels, a currency's five key figures fit in one row", async () => {
    await browser.open(fileOf("a brand with many orders"), { width: 1280 });
    const rows = await browser.evaluate<number[][]>(
      "[...document.querySelectorAll('dl')].map((list) => [...list.children].map((one) => one.offsetTop))",
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const tops of rows) expect([tops.length, new Set(tops).size]).toEqual([5, 1]);
  });

  test.each(widths)(
    "on a page with a width of %i pixels, charts are as wide as the text, and their labels are not scaled",
    async (width) => {
      await browser.open(fileOf("a brand with many orders"), { width });
      const charts = await browser.evaluate<[number, number, string][]>(
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

  /** Prints the open page, and returns the lines on each printed page. */
  const printLines = async (paper: "A4" | "Letter") => {
    const file = join(home, "printed.pdf");
    writeFileSync(file, await browser.pdf(paper));
    const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
    const pages = text.split("\f").slice(0, -1);
    return pages.map((page) => page.split("\n").flatMap((line) => line.trim() || []));
  };
  const textsOf = (selector: string) =>
    browser.evaluate<string[]>(
      `[...document.querySelectorAll("${selector}")].map((one) => one.firstChild.textContent.trim())`,
    );

  describe.each(["A4", "Letter"] as const)("the report printed on %s", (paper) => {
    test("a one-month report with three currencies has at most six printed pages", async () => {
      await browser.open(fileOf("a brand with many orders"));
      const pdf = String(await browser.pdf(paper));
      const pages = pdf.match(/\/Type \/Page\b/g) ?? [];
      expect(pages.length).toBeGreaterThan(2);
      expect(pages.length).toBeLessThanOrEqual(6);
    });

    test.skipIf(!hasPdftotext).each(paper === "A4" ? brandNames : ["a brand with many orders"])(
      "for %s, no printed page contains only a few lines or ends with a heading",
      async (name) => {
        await browser.open(fileOf(name));
        const headings = await textsOf("h1, h2, h3");
        const captions = await textsOf("caption, figcaption");
        for (const lines of await printLines(paper)) {
          const last = lines.at(-1) ?? "";
          expect(lines.length, lines.join("\n")).toBeGreaterThan(5);
          expect(headings).not.toContain(last);
          expect(captions.filter((caption) => last.startsWith(caption))).toEqual([]);
        }
      },
    );
  });

  test.skipIf(!hasPdftotext)(
    "a table that is split across pages has at least three rows on each page",
    async () => {
      await browser.open(fileOf("a brand with many orders"));
      const rows = await textsOf("#restated tbody tr");
      const isRow = (line = "") => rows.some((row) => line.startsWith(row));
      let splits = 0;
      for (const offset of [0, 40, 80, 120]) {
        await browser.evaluate(`document.querySelector("#restated h2").style.paddingTop = "${offset}px"`);
        const pages = await printLines("A4");
        for (const [index, lines] of pages.entries()) {
          if (!/^(Month|Order) .* Difference/.test(lines[0] ?? "")) continue;
          splits += 1;
          expect(
            [lines.slice(1, 4).every(isRow), pages[index - 1]?.slice(-3).every(isRow)],
            lines[0],
          ).toEqual([true, true]);
        }
      }
      expect(splits).toBeGreaterThan(2);
    },
  );

  test("the report page escapes HTML in names from the API", async () => {
    await browser.open(fileOf("a brand whose names contain HTML"));
    expect(
      await browser.evaluate(
        "window.ran === undefined && document.querySelectorAll('script, img, iframe').length",
      ),
    ).toBe(0);
    expect(
      await browser.evaluate("document.body.textContent.includes('<script>window.ran=1</script>')"),
    ).toBe(true);
  });
});
