import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { spawnBrandapi } from "../support/process.js";

const nobody = 65_534;

/** Runs a command as a user who has no access to the `locked` folder. */
async function runLocked(command: string) {
  const home = makeHome();
  cpSync(await mirrorOfOrders(2), join(home, "mirror.sqlite"));
  mkdirSync(join(home, "locked/lake/orders/_delta_log"), { recursive: true });
  writeFileSync(join(home, "locked/config.json"), '{"profiles":{}}');
  if (process.getuid?.() === 0)
    for (const name of ["", "mirror.sqlite", "locked"]) chownSync(join(home, name), nobody, nobody);
  chmodSync(join(home, "locked"), 0);
  const user = process.getuid?.() === 0 ? { uid: nobody } : {};
  const env = command.includes("profiles") ? { BRANDAPI_CONFIG_DIR: join(home, "locked") } : {};
  const ended = await spawnBrandapi(command.split(" "), { home, env, ...user }).ended;
  chmodSync(join(home, "locked"), 0o700);
  return ended;
}

test.each([
  "export orders -o locked/x.csv --db mirror.sqlite",
  "export orders -o locked/folder/ --db mirror.sqlite",
  "export orders --singer --state locked/state.json --db mirror.sqlite",
  "export orders --csv --db locked/mirror.sqlite",
  "status --max-age 1h --db locked/mirror.sqlite",
  "status --db locked/folder/mirror.sqlite",
  "query -f locked/q.sql --db mirror.sqlite",
  "tables --delta locked/lake --db mirror.sqlite",
  "backup locked --db mirror.sqlite",
  "whoami --key-file locked/key",
  "profiles",
])("`brandapi %s` reports that permission is denied, not that a file does not exist", async (command) => {
  const { code, err } = await runLocked(command);
  expect(err).toContain("permission denied");
  expect(err).not.toMatch(/EACCES|does not exist|missing|No mirror yet|free (?:disk )?space/);
  expect(code).toBe(3);
});
