import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDeltaLog } from "../../src/delta/log.js";
import { createBrand } from "../../src/sandbox/brand.js";
import { saveInfo } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { writeRead } from "../support/mirror.js";

/**
 * A module that the measured process preloads. It records the CPU time and all paths below FOLDER that the process
 * opens or lists.
 */
const preload = `data:text/javascript,${encodeURIComponent(`
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const names = new Set();
  const record = (object, name) => {
    const original = object[name];
    object[name] = (path, ...rest) => {
      if (String(path).startsWith(process.env.FOLDER)) names.add(String(path).slice(process.env.FOLDER.length + 1));
      return original.call(object, path, ...rest);
    };
  };
  for (const name of ["openSync", "readFileSync", "readdirSync", "createReadStream"]) record(fs, name);
  for (const name of ["open", "readFile", "readdir"]) record(fs.promises, name);
  syncBuiltinESMExports();
  const result = () => JSON.stringify({ names: [...names], cpuUs: process.cpuUsage().user + process.cpuUsage().system });
  process.on("exit", () => fs.writeFileSync(process.env.FOLDER + ".result", result()));
`)}`;

/** Measures exports of one changed brand to a single-brand table and to a multi-brand table. */
export async function measureLakeCost(
  bin: string,
  brands: number,
  say: (line: string) => void,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "brandapi-lake-cost-"));
  try {
    for (const count of [1, brands]) {
      const machine = join(home, String(count));
      const { paths, env } = await createMachine(machine, count);
      const lake = join(machine, "lake");
      const table = join(lake, "orders");
      const run = (...flags: string[]) =>
        spawnSync(
          process.execPath,
          [
            ...(flags.includes("--quiet") ? [] : ["--import", preload]),
            bin,
            "export",
            "orders",
            "--delta",
            lake,
            ...flags,
          ],
          {
            env: { PATH: process.env.PATH, FOLDER: table, ...env },
            encoding: "utf8",
          },
        );
      const first = run("--all-profiles", "--quiet");
      if (first.status !== 0) throw new Error(first.stderr);
      await refundOrder(paths[0] ?? "");
      const next = run("--profile", "brand-0");
      if (next.status !== 0) throw new Error(next.stderr);
      const { cpuUs, names } = JSON.parse(readFileSync(`${table}.result`, "utf8")) as {
        cpuUs: number;
        names: string[];
      };
      const { version } = await readDeltaLog(table);
      const commit = join(table, "_delta_log", `${String(version).padStart(20, "0")}.json`);
      const matching = (pattern: RegExp) => names.filter((name) => pattern.test(name)).length;
      say(
        `${count} brands: version ${version}, commit of ${statSync(commit).size} bytes, ` +
          `${matching(/^brand_id=.*[^.]\.parquet$/)} data files, ${matching(/\d{20}\.json$/)} versions and ` +
          `${matching(/checkpoint\.parquet$/)} checkpoints opened, ${names.length} paths opened or listed in total, ${(cpuUs / 1e6).toFixed(2)} s of CPU time`,
      );
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function createMachine(
  folder: string,
  count: number,
): Promise<{ paths: string[]; env: Record<string, string> }> {
  mkdirSync(folder);
  const paths = Array.from({ length: count }, (_, index) => join(folder, `brand-${index}.sqlite`));
  const template = join(folder, "template.sqlite");
  const mirror = await openMirror(template);
  const { orders } = createBrand({ seed: 1, orders: 2_000, now: Date.now() });
  writeRead(mirror, "orders", orders, { whole: true });
  mirror.db.close();
  for (const [index, path] of paths.entries()) {
    copyFileSync(template, path);
    const copy = await openMirror(path);
    copy.transaction(() => saveInfo(copy, "brand_id", `brand-${index}`));
    copy.db.close();
  }
  const profiles = Object.fromEntries(
    paths.map((db, index) => [`brand-${index}`, { key: `bk_${index}`, db }]),
  );
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  return { paths, env: { HOME: folder, BRANDAPI_CONFIG_DIR: folder } };
}

async function refundOrder(path: string): Promise<void> {
  const mirror = await openMirror(path);
  const json = mirror.db
    .prepare("SELECT json FROM records WHERE resource = 'orders' LIMIT 1")
    .pluck()
    .get() as string;
  const order = JSON.parse(json) as JsonObject;
  writeRead(mirror, "orders", [{ ...order, refund_amount: 7 }], { at: new Date().toISOString() });
  mirror.db.close();
}
