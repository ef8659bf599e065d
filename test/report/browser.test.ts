import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { names, pageOf } from "./brands.js";
import { chromium, openBrowser, type Page } from "./chromium.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const widths = [375, 768, 1280] as const;
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
