import { expect, test } from "vitest";
import { makeMirror } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

test("an XLSX sheet can contain 1,048,575 rows below its header", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1048575)";
  const command = ["query", `${numbers} SELECT 1 FROM c`, "-o", "rows.xlsx", "--db", mirror.path];
  const { code, err } = await brandapi(command);
  expect(code, err).toBe(0);
});
