import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../config/key.js";
import { counted } from "../counted.js";
import { shellWord } from "../shell.js";
import { loadSqlite } from "../sqlite.js";
import { Advice, type Check, ok } from "./check.js";

/** The file in which all processes of this machine count their requests. */
export const budget: Check = {
  name: "budget",
  async *run({ settings }) {
    const { rateLimit, stateDir } = await settings();
    const path = join(stateDir, "rate.sqlite");
    if (rateLimit === null) yield ok("no rate limit was asked for, so requests are not counted");
    else if (await mayWrite(`${stateDir}/`, path)) {
      if (await mayWrite(path, path)) await checkSound(path);
      yield ok(`${counted(rateLimit, "request")} a minute, counted in ${path}`);
    } else yield ok("none yet: the first request makes it");
  },
};

/** Whether it is there. @throws Advice where it cannot be used */
async function mayWrite(place: string, path: string): Promise<boolean> {
  try {
    await access(place, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw uncounted(
      reasonOf(error),
      path,
      `see to it that you may write: \`ls -ld ${shellWord(place)}\``,
      error,
    );
  }
}

async function checkSound(path: string): Promise<void> {
  const Sqlite = await loadSqlite();
  const damaged = (cause?: unknown) =>
    uncounted(
      "the file is damaged",
      path,
      `run \`rm ${shellWord(path)}\`: the next request makes it anew`,
      cause,
    );
  const db = new Sqlite(path, { readonly: true });
  try {
    if (db.pragma("quick_check(1)", { simple: true }) !== "ok") throw damaged();
  } catch (error) {
    throw error instanceof Sqlite.SqliteError ? damaged(error) : error;
  } finally {
    db.close();
  }
}

function uncounted(why: string, path: string, hint: string, cause: unknown): Advice {
  return new Advice(`Requests of other brandapi processes are not counted, ${why}: ${path}.`, {
    hint,
    cause,
  });
}
