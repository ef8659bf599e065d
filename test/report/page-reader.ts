/** Functions that parse the report page, without using the code that renders the page. */

/** Returns the text of an HTML fragment, with entities decoded. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, " ")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, " ")
    .trim();
}

export function sectionOf(page: string, id: string): string {
  return new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(page)?.[0] ?? "";
}

export function rowsOf(html: string): string[][] {
  return [...html.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][\s\S]*?<\/t[hd]>/g)].map(([cell]) => textOf(cell)),
  );
}
