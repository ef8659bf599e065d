import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { chromium, openBrowser } from "../support/browser.js";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { drawTerminal } from "./terminal-picture.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, ".github/pictures");
const [page, terminal] = [join(folder, "report.png"), join(folder, "report-text.svg")];
/** When the documents' demo was run: the pictures show the same data. */
const now = Date.parse("2026-11-22T18:03:00.000Z");

test.runIf(process.env.PICTURES === "write")(
  "`npm run pictures` makes the pictures anew, from the demo's data",
  { timeout: 120_000 },
  async () => {
    if (chromium === undefined) throw new Error("The pictures need Chromium: `apt-get install chromium`");
    const home = makeHome();
    const options = { home, clock: { now: () => now } };
    expect((await brandapi("demo", options)).code).toBe(0);
    const words = ["report", "--db", join(home, "brandapi-demo/demo.sqlite"), "--text", "--locale", "en"];
    const { out } = await brandapi(words, { ...options, tty: { stdout: true }, columns: 80 });
    mkdirSync(folder, { recursive: true });
    writeFileSync(terminal, drawTerminal("brandapi report --text", out.split("\n").slice(0, 30)));
    const browser = await openBrowser();
    await browser.open(join(home, "brandapi-demo/report.html"), { width: 1_000, height: 1_480 });
    writeFileSync(page, await browser.png({ whole: false }));
    await browser.close();
  },
);

test("the pictures of the README are there, and small", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  for (const path of [page, terminal]) {
    expect(existsSync(path), path).toBe(true);
    expect(statSync(path).size).toBeLessThan(200_000);
    expect(readme).toMatch(
      new RegExp(`!\\[[^\\]]{20,}\\]\\(${path.slice(root.length).replaceAll(".", "\\.")}\\)`),
    );
  }
});
