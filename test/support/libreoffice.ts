import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { makeHome } from "./home.js";

/** LibreOffice, where it is installed: `apt-get install libreoffice-calc --no-install-recommends`. */
export const soffice = find();

/** A cell as LibreOffice holds it, whatever it shows: numbers and times by their values, and the text that it shows. */
export interface SheetCell {
  type: string;
  value: string;
  shown: string;
}

/** Opens a workbook as a person of this country does. @returns its sheets by name, rows of cells, null for empty ones */
export async function openWorkbook(
  path: string,
  locale: string,
): Promise<Map<string, (SheetCell | null)[][]>> {
  const profile = makeHome();
  mkdirSync(join(profile, "user"));
  writeFileSync(
    join(profile, "user/registrymodifications.xcu"),
    `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${locale}</value></prop></item></oor:items>`,
  );
  const args = [`-env:UserInstallation=file://${profile}`, "--headless", "--convert-to", "fods", "--outdir"];
  await promisify(execFile)(soffice ?? "", [...args, dirname(path), path], { timeout: 110_000 });
  const xml = readFileSync(join(dirname(path), basename(path).replace(/xlsx$/, "fods")), "utf8");
  const tables = xml.matchAll(/<table:table table:name="([^"]*)"[\s\S]*?<\/table:table>/g);
  return new Map([...tables].map(([table, name = ""]) => [name, rowsOf(table)]));
}

function rowsOf(table: string): (SheetCell | null)[][] {
  const rows = [...table.matchAll(/<table:table-row[^>]*?(?:\/>|>([\s\S]*?)<\/table:table-row>)/g)];
  const cells = rows.map(([, row = ""]) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>([\s\S]*?)<\/table:table-cell>)/g)].flatMap(
      ([, attributes = "", content = ""]) => {
        const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
        if (attributes.includes("table:formula")) throw new Error(`a formula: ${attributes}`);
        const type = attribute("office:value-type");
        const shown = textOf(content);
        const held = ["office:value", "office:date-value", "office:boolean-value"]
          .map(attribute)
          .find(Boolean);
        const cell = type === undefined ? null : { type, value: held ?? shown, shown };
        const times = Number(attribute("table:number-columns-repeated") ?? 1);
        return Array<SheetCell | null>(cell ? times : Math.min(times, 100)).fill(cell);
      },
    ),
  );
  return cells.filter((row) => row.some((cell) => cell !== null));
}

const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function textOf(content: string): string {
  const paragraphs = [...content.matchAll(/<text:p[^>]*?(?:\/>|>([\s\S]*?)<\/text:p>)/g)];
  return paragraphs
    .map(([, text = ""]) =>
      text
        .replace(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count) => " ".repeat(Number(count ?? 1)))
        .replaceAll("<text:tab/>", "\t")
        .replaceAll("<text:line-break/>", "\n")
        .replace(/<[^>]+>/g, "")
        .replace(/&(?:#x?([0-9a-fA-F]+)|(\w+));/g, (all, code, name) =>
          code ? String.fromCodePoint(Number(all[2] === "x" ? `0x${code}` : code)) : (entities[name] ?? all),
        ),
    )
    .join("\n");
}

function find(): string | undefined {
  try {
    return execFileSync("sh", ["-c", "command -v soffice"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}
