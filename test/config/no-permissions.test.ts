import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, testBaseUrl } from "../support/brand.js";
import { replaceFileFunction } from "../support/files.js";

// Simulates a file system without permissions, such as exFAT, on which all users can read all files.
replaceFileFunction("writeFile", (writeFile) => async (...args) => {
  await writeFile(...args);
  chmodSync(String(args[0]), 0o777);
});

test("login refuses to store a key on a file system without permissions", async () => {
  const brand = makeBrand();
  const { code, err } = await brand.run(`login --base-url ${testBaseUrl} --key-stdin`, { stdin: brand.key });
  expect(code, err).toBe(3);
  expect(err).toMatch(/Nothing was stored, because other users could read the key: .*config\.json/);
  expect(err).toMatch(/hint: the file system does not support permissions; set `BRANDAPI_CONFIG_DIR`/);
  expect(readdirSync(join(brand.home, ".config/brandapi"))).toEqual([]);
});
