import { writeFileSync } from "node:fs";
import { documents } from "./documents.js";
import { regenerate } from "./generate.js";
import { makePictures } from "./pictures.js";
import { showAnswers, shown } from "./shown.js";

/** Writes the generated parts of the documents; what the flags name is made anew before. */
if (process.argv.includes("--answers")) {
  Object.assign(shown, await showAnswers());
  writeFileSync("bin/docs/shown.json", `${JSON.stringify(shown, null, 2)}\n`);
}
if (process.argv.includes("--pictures")) await makePictures();
for (const { url, text } of documents) writeFileSync(url, await regenerate(text));
