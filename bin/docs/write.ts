import { writeFileSync } from "node:fs";
import { documents } from "./documents.js";
import { regenerate } from "./generate.js";
import { makePictures } from "./pictures.js";

if (process.argv.includes("--pictures")) await makePictures();
for (const { url, text } of documents) writeFileSync(url, regenerate(text));
