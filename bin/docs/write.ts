import { writeFileSync } from "node:fs";
import { documents, regenerate, root } from "./generate.js";
import { makePictures } from "./pictures.js";
import { formatSystemSchema } from "./system-schema.js";
import { formatViews } from "./views-sql.js";

if (process.argv.includes("--pictures")) await makePictures();
for (const { url, text } of documents) writeFileSync(url, regenerate(text));
writeFileSync(new URL("src/store/schema.sql", root), await formatSystemSchema());
writeFileSync(new URL("src/views/views.sql", root), formatViews());
