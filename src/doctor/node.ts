import { loadSqlite } from "../lib/sqlite.js";
import { type Check, ok } from "./check.js";

/** Node, and the native module that opens the mirror. */
export const node: Check = {
  name: "node",
  async *run({ deps }) {
    const Sqlite = await loadSqlite();
    new Sqlite(":memory:").close();
    yield ok(`Node ${deps.machine.version}, and better-sqlite3 works with it`);
  },
};
