import { answers } from "./answers.js";
import { commandSections } from "./commands.js";
import { fill } from "./markdown.js";
import { referenceSections } from "./reference.js";
import { shown } from "./shown.js";

/** Every part of the documents that is made from the registries, by its name. */
export async function generatedSections(): Promise<ReadonlyMap<string, string>> {
  return new Map([...commandSections(), ...referenceSections(), ["answers", answersText()]]);
}

/** A document with its generated parts made anew. `npm run docs` writes it. */
export async function regenerate(text: string): Promise<string> {
  return fill(text, await generatedSections());
}

function answersText(): string {
  return answers
    .map(
      ({ name, question, sql }) =>
        `### ${question}\n\n\`\`\`sql\n${sql};\n\`\`\`\n\n\`\`\`text\n${shown[name]}\n\`\`\``,
    )
    .join("\n\n");
}
