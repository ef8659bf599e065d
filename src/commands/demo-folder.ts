import { mkdirSync, rmSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";

/** Where a demo leaves its mirror and its exports. */
export interface DemoFolder {
  path: string;
  /** As a person would type it. */
  shown: string;
  mirror: string;
  exports: readonly (readonly [table: string, file: { path: string; shown: string }])[];
}

const exported = [
  ["orders", "orders.csv"],
  ["orders", "orders.ndjson"],
  ["roster", "roster.csv"],
  ["changes", "changes.csv"],
] as const;

/** Makes the folder, and clears away the mirror of an earlier demo: each begins anew. */
export async function demoFolder(out: string, cwd: string): Promise<DemoFolder> {
  const path = resolve(cwd, out);
  mkdirSync(path, { recursive: true });
  const mirror = join(path, "demo.sqlite");
  for (const suffix of ["", "-wal", "-shm", "-lock"]) rmSync(`${mirror}${suffix}`, { force: true });
  const shown = isAbsolute(out) ? out : relative(cwd, path) || ".";
  return {
    path,
    shown,
    mirror,
    exports: exported.map(([table, name]) => [table, { path: join(path, name), shown: join(shown, name) }]),
  };
}
