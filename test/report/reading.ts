/** The page as somebody reads it: texts and tables, by no code of the program's own. */

/** What stands between tags, with entities read. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();
}

/** A part of the page, by its id. */
export function partOf(page: string, id: string): string {
  const part = new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(page)?.[0];
  if (part === undefined) throw new Error(`the page has no part ${id}`);
  return part;
}

export interface ReadTable {
  caption: string;
  titles: string[];
  rows: string[][];
}

export function tablesOf(html: string): ReadTable[] {
  return [...html.matchAll(/<table[\s\S]*?<\/table>/g)].map(([table]) => {
    const cells = (row: string) =>
      [...row.matchAll(/<t[hd][\s\S]*?<\/t[hd]>/g)].map(([cell]) => textOf(cell));
    const [head = "", ...rows] = [...table.matchAll(/<tr>[\s\S]*?<\/tr>/g)].map(([row]) => row);
    return {
      caption: textOf(/<caption[\s\S]*?<\/caption>/.exec(table)?.[0] ?? ""),
      titles: cells(head),
      rows: rows.map(cells),
    };
  });
}

/** The figures of each currency's line: title, figure, and what it was before. */
export function metricsOf(part: string): Record<string, Record<string, { now: number; before: number }>> {
  return Object.fromEntries(
    [...part.matchAll(/<h3>([^<]*)<\/h3>\s*<dl[\s\S]*?<\/dl>/g)].map(([line, currency = ""]) => [
      currency,
      Object.fromEntries(
        [...line.matchAll(/<dt>([\s\S]*?)<\/dt><dd><b>([\s\S]*?)<\/b>([\s\S]*?)<\/dd>/g)].map(
          ([, title = "", now = "", rest = ""]) => [
            title,
            { now: numberOf(now), before: numberOf(/([\d,.−]+) before/.exec(textOf(rest))?.[1] ?? "") },
          ],
        ),
      ),
    ]),
  );
}

/** A number as English writes it: `−1,234.50`. */
export function numberOf(text: string): number {
  if (!/^[+−±]? ?[\d,]+(\.\d+)?$/.test(text.trim())) throw new Error(`not a number: ${text}`);
  return Number(text.replace(/[,+± ]/g, "").replace("−", "-"));
}

/** To the cent, as the page shows it. */
export function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** `2026-10` of `Oct 2026`, `2026-10-03` of `3 Oct 2026`. */
export function dateOf(text: string): string {
  const [, day, month = "", year] = /^(?:(\d+) )?(\w{3}) (\d{4})/.exec(text) ?? [];
  const nth = "JanFebMarAprMayJunJulAugSepOctNovDec".indexOf(month) / 3 + 1;
  return [year, String(nth).padStart(2, "0"), ...(day ? [day.padStart(2, "0")] : [])].join("-");
}
