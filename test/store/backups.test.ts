import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { backupFolder, backupName, lastBackupHint } from "../../src/store/backups.js";
import { createFolder } from "../../src/util/files.js";
import { makeHome } from "../support/home.js";

test("if the mirror is missing, the hint names the newest backup in its backup folder", async () => {
  const path = join(makeHome(), "acme.sqlite");
  expect(await lastBackupHint(path)).toBeNull();
  createFolder(backupFolder(path), 0o700);
  const times = ["2026-11-01T04:00:00.000Z", "2026-11-22T04:00:00.000Z", "2026-10-05T04:00:00.000Z"];
  for (const at of times) writeFileSync(join(backupFolder(path), backupName(path, at)), "");
  writeFileSync(join(backupFolder(path), backupName("basalt.sqlite", "2026-11-30T04:00:00.000Z")), "");
  expect(await lastBackupHint(path)).toContain("acme-20261122T040000000Z.sqlite");
});
