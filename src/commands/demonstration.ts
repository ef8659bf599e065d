import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { mirrorFiles } from "../mirror/index.js";
import { type BrandOptions, createApi, createBrand, serve } from "../sandbox/index.js";
import type { GlobalOptions } from "./context.js";

export interface DemoOptions extends GlobalOptions {
  out?: string;
  orders?: number;
  seed?: number;
}

/** Lies in a folder that a demonstration has made, so that the next one may clear it. */
const markName = ".brandapi-demo";

/**
 * Serves a new brand on this machine, by the clock that is given, and makes the folder for its mirror: that of an earlier
 * demonstration is removed, and its exports are replaced.
 * @returns the brand, and as `at` what commands are given that sync it, without a rate limit
 * @throws UsageError, before anything is touched, if the folder holds files and no demonstration has made it
 */
export async function demonstrate(out: string, options: BrandOptions, deps: Deps) {
  const folder = openFolder(out, deps);
  const brand = createBrand(options);
  const api = createApi({ brands: [brand], now: deps.clock.now });
  const { baseUrl, close } = await serve(api, 0);
  const env = {
    ...deps.env,
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_KEY: brand.keys[0]?.secret ?? "",
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: folder.mirror,
    BRANDAPI_PROFILE: "demo",
    BRANDAPI_CONFIG_DIR: folder.path,
  };
  return { brand, baseUrl, close, at: { ...deps, env } };
}

/** Returns the paths of the folder and of the mirror in it. */
function openFolder(out: string, deps: Deps) {
  const path = expandPath(out, deps);
  const mirror = join(path, "demo.sqlite");
  const mark = join(path, markName);
  if (!existsSync(mark) && existsSync(path) && readdirSync(path).length > 0)
    throw new UsageError(`This folder has files the demo did not write: ${out}.`, {
      hint: "choose another with `--out`",
    });
  makeFolder(path);
  for (const file of mirrorFiles(mirror)) rmSync(file, { force: true });
  writeFileSync(mark, "");
  return { path, mirror };
}
