/** What the documents' tests and their generator need to know of Markdown. */

const marked = /(<!-- generated: ([a-z -]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/**
 * The text with each part between `<!-- generated: NAME -->` and `<!-- /generated -->` made anew.
 * @throws Error for a name that no section has
 */
export function fill(text: string, sections: ReadonlyMap<string, string>): string {
  return text.replace(marked, (_, start: string, name: string, end: string) => {
    const section = sections.get(name);
    if (section === undefined) throw new Error(`no generated section is called: ${name}`);
    return `${start}\n${section}\n\n${end}`;
  });
}

/** The names of the generated parts, in the order of the text. */
export function generatedNames(text: string): string[] {
  return [...text.matchAll(marked)].map(([, , name = ""]) => name);
}

export interface CodeBlock {
  language: string;
  text: string;
}

export function codeBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({
    language,
    text: body,
  }));
}

/** The text without its code blocks. */
export function prose(text: string): string {
  return text.replace(/^```\w*\n[\s\S]*?^```$/gm, "");
}

export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Text in lines of at most `width` characters; those after the first are indented. */
export function wrap(text: string, width = 110, indent = ""): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(word);
    else if (last.length + word.length + 1 > width) lines.push(indent + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}

/** The address of a heading on the page, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

export function headings(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
}
