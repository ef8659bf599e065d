import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, openBrowser } from "../../test/report/chromium.js";
import { runProgram } from "./program.js";

const folder = ".github/pictures";
/** A fixed time, so that the pictures do not depend on today's date. */
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

const [letter, line, edge] = [8.4, 19, 16];
const colors: Readonly<Record<string, string>> = { "36": "#5bb8d6" };

// The expression is built from a string, because linters reject control characters in regular expressions.
const colorCode = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);

function drawTerminal(command: string, lines: readonly string[]): string {
  const all = [`\u001b[2m$\u001b[22m ${command}`, ...lines];
  const [width, height] = [80 * letter + 2 * edge, all.length * line + 2 * edge];
  const texts = all.map((text, nth) => {
    const y = edge + (nth + 0.75) * line;
    return `<text x="${edge}" y="${y}" xml:space="preserve">${spansOf(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<rect width="100%" height="100%" rx="8" fill="#14181d"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#dde3ea">
${texts.join("\n")}
</g>
</svg>
`;
}

function spansOf(text: string): string {
  let [weight, color, opacity] = ["", "", ""];
  return text
    .split(colorCode)
    .map((piece, nth) => {
      if (nth % 2 === 0) {
        const style = `${weight}${color}${opacity}`;
        const safe = piece.replace(/&/g, "&amp;").replace(/</g, "&lt;");
        return style === "" || safe === "" ? safe : `<tspan${style}>${safe}</tspan>`;
      }
      if (piece === "1") weight = ' font-weight="bold"';
      else if (piece === "2") opacity = ' opacity="0.6"';
      else if (piece === "22") [weight, opacity] = ["", ""];
      else color = colors[piece] ? ` fill="${colors[piece]}"` : "";
      return "";
    })
    .join("");
}
