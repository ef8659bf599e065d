import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { measured } from "../support/peak.js";
import { envOf, runAt, sharedSandbox } from "./matrix.js";

/** Each record as large as no honest one is, and as any may be. Together they are 140 MB. */
const textBytes = 3_000_000;
/** What was measured is 170 MB; where all were read at once, 460 and 660. */
const mostMb = 300;

test("no command holds more than a few large records at a time, however many there are", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const env = envOf(sandbox, home, sandbox.key);
  expect((await runAt(sandbox, home, "sync opportunities")).code).toBe(0);
  const db = new Sqlite(env.BRANDAPI_DB);
  const enlarge = "json = json_insert(json, '$.notes', printf('%.*c', ?, 'x'))";
  expect(db.prepare(`UPDATE records SET ${enlarge}`).run(textBytes).changes).toBeGreaterThan(40);
  db.close();
  const commands = [
    "verify opportunities",
    "export opportunities --ndjson -o all.ndjson",
    "sync opportunities",
  ];
  for (const command of commands) {
    const { code, err, peakMb } = await measured(command.split(" "), { home, env });
    expect(code, err).toBe(0);
    expect(peakMb, command).toBeLessThan(mostMb);
  }
});
