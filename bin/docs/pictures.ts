import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, openBrowser } from "../../test/report/chromium.js";
import { runProgram } from "./program.js";
import { drawTerminal } from "./terminal-picture.js";

const folder = ".github/pictures";
/** The time is fixed, so that the pictures do not depend on the current day. */
const now = Date.parse("2026-11-22T18:03:00.000Z");

/**
 * Renders the README's pictures from the demo's data.
 * @throws Error if Chromium is not installed
 */
export async function makePictures(): Promise<void> {
  if (chromium === undefined)
    throw new Error("Generating the pictures requires Chromium: `apt-get install chromium`");
  const home = mkdtempSync(join(tmpdir(), "brandapi-docs-"));
  await runProgram(["demo", "--out", "demo", "--quiet"], { home, now });
  const words = ["report", "--db", join(home, "demo/demo.sqlite"), "--text"];
  const text = await runProgram(words, { home, now, columns: 80 });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "report-text.svg"),
    drawTerminal("brandapi report --text", text.split("\n").slice(0, 30)),
  );
  const browser = await openBrowser();
  await browser.open(join(home, "demo/report.html"), { width: 1_000, height: 1_480 });
  writeFileSync(join(folder, "report.png"), await browser.screenshot({ fullPage: false }));
  await browser.close();
  rmSync(home, { recursive: true });
}
