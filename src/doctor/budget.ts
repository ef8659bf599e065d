import { existsSync } from "node:fs";
import { join } from "node:path";
import { counted } from "../lib/counted.js";
import { shellWord } from "../lib/shell.js";
import { loadSqlite } from "../lib/sqlite.js";
import { Advice, type Check, ok } from "./check.js";
import { findClosed } from "./writable.js";

/** The file in which all processes of this machine count their requests. */
export const budget: Check = {
  name: "budget",
  async *run({ settings }) {
    const { rateLimit, stateDir } = await settings();
    const path = join(stateDir, "rate.sqlite");
    if (rateLimit === null) yield ok("no rate limit was asked for, so requests are not counted");
    else {
      const closed = await findClosed(path);
      if (closed) throw uncounted(closed.why, closed.place, closed.hint, closed.cause);
      if (existsSync(path)) {
        await checkSound(path);
        yield ok(`${counted(rateLimit, "request")} a minute, counted in ${path}`);
      } else yield ok("none yet: the first request makes it");
    }
  },
};

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
