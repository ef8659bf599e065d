import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { createSandboxApi } from "../sandbox/api.js";
import { type BrandOptions, createBrand } from "../sandbox/brand.js";
import { serveSandbox } from "../sandbox/server.js";
import { connect, truncateLog, withMirror } from "../store/database.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { createFolder } from "../util/files.js";
import { loadSqlite } from "../util/sqlite.js";

export interface DemoFlags extends GlobalFlags {
  out?: string;
  orders?: number;
  seed?: number;
  challenge?: boolean;
}

/**
 * Starts a sandbox with a new brand. Creates the output folder, or deletes the mirror that an earlier demo left in it.
 * @throws ConfigurationError if SQLite is not installed
 * @throws UsageError if the folder contains files and was not created by a demo
 */
export async function startDemo(out: string, options: BrandOptions, deps: Deps) {
  await loadSqlite();
  const folder = expandPath(out, deps);
  const db = join(folder, "demo.sqlite");
  // Mark the folder as created by a demo, so that the next demo can delete the mirror in it.
  const marker = join(folder, ".brandapi-demo");
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(marker))
    throw new UsageError(`This folder contains files that the demo did not create: ${out}.`, {
      hint: "choose a different folder with `--out`",
    });
  createFolder(folder);
  for (const file of mirrorFiles(db)) rmSync(file, { force: true });
  writeFileSync(marker, "");
  const brand = createBrand(options);
  const { baseUrl, close: closeSandbox } = await serveSandbox(
    createSandboxApi({ brands: [brand], now: deps.clock.now }),
    0,
  );
  const close = async () => {
    await closeSandbox();
    // Truncate the write-ahead log, because a command that opens the mirror read-only cannot do so.
    if (existsSync(db)) await withMirror(connect(db), truncateLog);
  };
  const env = {
    ...deps.env,
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_KEY: brand.keys[0]?.secret ?? "",
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: db,
    BRANDAPI_PROFILE: "demo",
    BRANDAPI_CONFIG_DIR: folder,
  };
  return { brand, baseUrl, close, sandboxDeps: { ...deps, env } };
}
