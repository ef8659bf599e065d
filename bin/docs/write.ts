import { writeFileSync } from "node:fs";
import { documents, regenerate } from "./generate.js";
import { makePictures } from "./pictures.js";

if (process.argv.includes("--pictures")) await makePictures();
for (const { url, text } of documents) writeFileSync(url, regenerate(text));
