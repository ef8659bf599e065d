import type { Database, RunResult, Statement } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { loadSqlite, type SqliteConstructor } from "../util/sqlite.js";
import { errorCode } from "../util/system-errors.js";
import { formatInstant } from "../util/timestamps.js";
import { checkMirrorPath, checkNotReplaced, readFileId, readIntoMemory } from "./mirror-files.js";
import { checkIsMirror } from "./schema.js";
import { damagedHint, explainOpenError } from "./sqlite-errors.js";

/**
 * The maximum time, in milliseconds, that SQLite waits for another writer. Signal handlers cannot run during this wait.
 */
export const busyMs = 1_000;

/** An open mirror. Prepared statements are cached by their SQL text. */
export class Mirror {
  readonly #statements = new Map<string, Statement>();

  /**
   * @param path the path as the user specified it, which may be a symbolic link
   * @param fileId the device and inode of the mirror file, or null if there is no file or `db` is a migrated copy
   */
  constructor(
    readonly db: Database,
    readonly path: string,
    readonly fileId: string | null,
  ) {}

  get hasFile(): boolean {
    return this.fileId !== null;
  }

  selectRow<Row>(sql: string, ...parameters: unknown[]): Row | null {
    const statement = this.#prepare(sql).pluck(false);
    return (statement.get(...parameters) as Row | undefined) ?? null;
  }

  selectRows<Row>(sql: string, ...parameters: unknown[]): Row[] {
    const statement = this.#prepare(sql).pluck(false);
    return statement.all(...parameters) as Row[];
  }

  selectValue<Value>(sql: string, ...parameters: unknown[]): Value | null {
    const statement = this.#prepare(sql).pluck();
    return (statement.get(...parameters) as Value | undefined) ?? null;
  }

  selectValues<Value>(sql: string, ...parameters: unknown[]): Value[] {
    const statement = this.#prepare(sql).pluck();
    return statement.all(...parameters) as Value[];
  }

  /**
   * Runs a write statement in the open transaction. If a later statement fails or the mirror file was replaced, the
   * transaction is rolled back.
   * @throws if no transaction is open
   */
  execute(sql: string, ...parameters: unknown[]): RunResult {
    if (!this.db.inTransaction) throw new Error(`no transaction is open for ${sql}`);
    return this.#prepare(sql).run(...parameters);
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /**
   * Runs `work` in a transaction, or in a savepoint if a transaction is already open. Rolls back if `work` throws.
   * @throws MirrorUnusable if the mirror file was replaced or removed
   */
  transaction<T>(work: () => T): T {
    const commitSafely = this.db.transaction(() => {
      const result = work();
      checkNotReplaced(this);
      return result;
    });
    return commitSafely.immediate();
  }
}

/** Runs asynchronous work in a transaction, and makes other writers wait until it ends. Rolls back if `work` throws. */
export async function withWriteTransaction<T>(mirror: Mirror, work: () => Promise<T>): Promise<T> {
  const { db } = mirror;
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = await work();
    checkNotReplaced(mirror);
    db.exec("COMMIT");
    return result;
  } finally {
    if (db.inTransaction) db.exec("ROLLBACK");
  }
}

export async function withReadTransaction<T>({ db }: Mirror, work: () => Promise<T>): Promise<T> {
  db.exec("BEGIN");
  try {
    return await work();
  } finally {
    if (db.inTransaction) db.exec("ROLLBACK");
  }
}

/** The names in the `mirror_info` table. `${string}` is the name of a resource or of its table. */
export type InfoName =
  // The brand to which the mirror belongs.
  | "brand_id"
  | "brand_name"
  // The date (UTC) of the last check for damage.
  | "checked_on"
  // The time and path of the last backup: `{"at", "path"}`.
  | "last_backup"
  // The progress (JSON) of the command that has locked the mirror.
  | "running_command"
  // The last command (JSON) if it failed before starting a run, or because the API rejected the key.
  | "failed_command"
  // The error (JSON) from a resource's last sync, if the API denied access.
  | `denied:${string}`
  // The ID of the last completed `verify` run, if it found problems, and all of them must be fixed in the API.
  | `unrepairable:${string}`
  // The ID of the last completed `verify` run, if it found no problem other than unread records or outdated details.
  | `unread_only:${string}`
  // The last comparison (JSON) of a resource's tables with its records.
  | `tables:${string}`
  // A fingerprint of the columns of a resource's table. If the program computes a different one, the table is rebuilt.
  | `shape:${string}`
  // The version of the rules for the `host_names` table. If the program has a different version, the table is rebuilt.
  | "host_names"
  // `separate` if removed records are stored in separate tables.
  | "removed_tables"
  // The fields that are omitted, and those that are no longer omitted but may be missing from old records. Both are
  // JSON arrays.
  | "omit"
  | "no_longer_omitted"
  // The IDs of forgotten hosts, as a JSON array.
  | "forgotten"
  // Present as long as the file's free pages or its log may still contain erased data.
  | "to_scrub"
  // The ID of the newest run at the time of the last redaction.
  | "redacted_after_run";

export function loadInfo(mirror: Mirror, name: InfoName): string | null {
  return mirror.selectValue<string>("SELECT value FROM mirror_info WHERE name = ?", name);
}

export function saveInfo(mirror: Mirror, name: InfoName, value: string): void {
  mirror.execute(
    `INSERT INTO mirror_info (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
    name,
    value,
  );
}

export function deleteInfo(mirror: Mirror, name: InfoName): void {
  mirror.execute("DELETE FROM mirror_info WHERE name = ?", name);
}

export function loadJsonInfo<T>(mirror: Mirror, name: InfoName): T | null {
  const json = loadInfo(mirror, name);
  return json === null ? null : parseStoredJson<T>(mirror, json, `\`${name}\` in \`mirror_info\``);
}

/**
 * Parses JSON that brandapi stored in the mirror.
 * @param what the stored value, as named in the error message
 * @throws MirrorUnusable if another program has replaced the value with invalid JSON
 */
export function parseStoredJson<T>({ path }: Mirror, json: string, what: string): T {
  try {
    return JSON.parse(json) as T;
  } catch (cause) {
    throw createDamageError(path, `${what} is not JSON`, cause);
  }
}

export function saveJsonInfo(mirror: Mirror, name: InfoName, value: object | null): void {
  if (value) saveInfo(mirror, name, JSON.stringify(value));
  else deleteInfo(mirror, name);
}

/**
 * Opens an existing mirror without migrating it. If the file and its folder are read-only, loads the file into memory.
 * @throws MirrorUnusable if the file cannot be opened, is not a mirror, or was written by a newer version
 */
export async function connect(path: string, { readonly = false } = {}): Promise<Mirror> {
  checkMirrorPath(path);
  const Sqlite = await loadSqlite();
  try {
    return readonly ? openForReading(Sqlite, path) : openDatabase(Sqlite, path, { source: path });
  } catch (error) {
    throw explainOpenError(error, path) ?? error;
  }
}

/** Opens a mirror read-only. If its folder is read-only, loads the file into memory. */
function openForReading(Sqlite: SqliteConstructor, path: string): Mirror {
  try {
    return openDatabase(Sqlite, path, { source: path, readonly: true });
  } catch (error) {
    // In WAL mode, SQLite needs `-wal` and `-shm` files, which it cannot create in a read-only folder.
    if (!/^SQLITE_(CANTOPEN|READONLY)/.test(errorCode(error))) throw error;
    return openDatabase(Sqlite, path, { source: readIntoMemory(path), readonly: true });
  }
}

/** @param options.source the path or the contents of the file */
function openDatabase(
  Sqlite: SqliteConstructor,
  path: string,
  { source, readonly = false }: { source: string | Buffer; readonly?: boolean },
): Mirror {
  const fileId = readFileId(path);
  const db = new Sqlite(source, { readonly, fileMustExist: true, timeout: busyMs });
  try {
    // Keep temporary data in memory, because a read-only system may have no writable folder for it.
    db.pragma("temp_store = MEMORY");
    // Foreign keys in user-defined tables must not block a rebuild or delete rows from those tables.
    db.pragma("foreign_keys = OFF");
    // SQLite opens the write-ahead log by name when it first reads the file. If the mirror file was replaced before
    // that, the log belongs to a different mirror, so check the file after the read.
    db.pragma("schema_version");
    checkNotReplaced({ fileId, path });
    const mirror = new Mirror(db, path, fileId);
    checkIsMirror(mirror);
    return mirror;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Waits until a mirror has been opened, runs `work` with the mirror, and closes it. Unlike `closeMirror`, does not
 * check whether the file was replaced.
 */
export async function withMirror<T>(
  opening: Promise<Mirror>,
  work: (mirror: Mirror) => T | Promise<T>,
): Promise<T> {
  const mirror = await opening;
  try {
    return await work(mirror);
  } finally {
    mirror.db.close();
  }
}

/**
 * Closes a mirror after a run.
 * @throws MirrorUnusable if the mirror file was replaced or removed during the run
 */
export function closeMirror(mirror: Mirror): void {
  const { db, fileId, path } = mirror;
  // If the mirror file was moved, empty its log. Otherwise, SQLite would apply the log to the file that is now at the
  // mirror's path.
  if (fileId !== readFileId(path)) truncateLog(mirror);
  db.close();
  checkNotReplaced(mirror);
}

/**
 * Moves all changes from the write-ahead log to the mirror file.
 * @returns false if the checkpoint failed because another program is reading the mirror
 */
export function truncateLog({ db }: Mirror): boolean {
  return db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
}

function createDamageError(path: string, reason: string, cause: unknown): MirrorUnusable {
  return new MirrorUnusable(`The mirror is damaged (${reason}): ${path}.`, { hint: damagedHint, cause });
}

/**
 * Checks the mirror file.
 * @param check `quick_check` is faster, but does not compare the indexes with the tables
 * @returns the first problem, or null if there is none
 */
export function findDamage(
  { db }: Pick<Mirror, "db">,
  check: "integrity_check" | "quick_check" = "integrity_check",
): string | null {
  const first = String(db.pragma(`${check}(1)`, { simple: true }));
  return first === "ok" ? null : first.replace(/\s+/g, " ");
}

/**
 * Checks the mirror file for damage. If `complete` is true, checks the indexes as well; otherwise, does nothing if the
 * file has already been checked today (UTC).
 * @throws MirrorUnusable if the file is damaged
 */
export function checkForDamage(mirror: Mirror, now: number, { complete }: { complete: boolean }): void {
  const today = formatInstant(now).slice(0, 10);
  if (!complete && loadInfo(mirror, "checked_on") === today) return;
  const damage = findDamage(mirror, complete ? "integrity_check" : "quick_check");
  if (damage !== null) {
    const cause = Object.assign(new Error(damage), { code: "SQLITE_CORRUPT" });
    throw createDamageError(mirror.path, damage, cause);
  }
  mirror.transaction(() => saveInfo(mirror, "checked_on", today));
}
