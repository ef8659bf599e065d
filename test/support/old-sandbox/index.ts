import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Deps } from "../../../src/deps.js";
import { createDataset, type Dataset } from "./data/dataset.js";
import { day } from "./data/timeline.js";
import { createFileHost, type FileLogEntry, type InterceptedFile } from "./downloads.js";
import { createEndpoints } from "./endpoints.js";
import { createEvents, type SandboxEvents } from "./events.js";
import type { Fault } from "./faults.js";
import { createKeys, type KeyName, type KeyRecord, type SandboxKey } from "./keys.js";
import { createLive } from "./live.js";
import { type SandboxOptions, settingsOf } from "./options.js";
import { countRecords, type RecordSet, readRecords } from "./records.js";
import { createHandler, type Intercept, type LogEntry, root } from "./server.js";
import { readTarget } from "./target.js";
import { createTime } from "./time.js";

export { sandboxChoices } from "./choices.js";
export type { SandboxEvents } from "./events.js";
export type { Fault } from "./faults.js";
export type { SandboxKey } from "./keys.js";
export type { SandboxOptions } from "./options.js";
export { type RecordSet, recordSets } from "./records.js";
export type { InterceptedRequest, LogEntry } from "./server.js";

/** The documented API, served on loopback until closed. */
export interface Sandbox {
  /** Such as `http://127.0.0.1:4010/api/brand/v1`. */
  baseUrl: string;
  /** The secret of the key with every scope. */
  key: string;
  keys: Record<KeyName, SandboxKey>;
  /** The origin that serves downloads. */
  filesUrl: string;
  /** What arrived: the last 100,000 requests. */
  log: LogEntry[];
  /** What arrived at the file host, as far back. */
  fileLog: FileLogEntry[];
  /** How often the file host was shown a key. */
  readonly leakedKeys: number;
  events: SandboxEvents;
  /** Called before each answer; may change the data, replace the answer, or cut the connection. */
  intercept: Intercept | undefined;
  /** The same for the file host. */
  interceptFile: ((request: InterceptedFile) => Fault | undefined) | undefined;
  /** The sandbox's time, in milliseconds since 1970. */
  now(): number;
  /** Moves the sandbox's time on; what happens in that span happens. */
  advance(ms: number): void;
  /** Every record of the main brand as it stands, exactly as served, in the API's order. */
  records(set: RecordSet): Generator<unknown, void, undefined>;
  count(set: RecordSet): number;
  /** Changes when a key stops working (milliseconds since 1970), or revokes it. */
  setKey(name: KeyName, change: { expiresAt?: number; revoked?: boolean; plan?: boolean }): void;
  close(): Promise<void>;
}

const longestLog = 100_000;

/** Starts the API and the file host on two ports of 127.0.0.1. Throws when the port is taken. */
export async function startSandbox(options: SandboxOptions, deps: Pick<Deps, "clock">): Promise<Sandbox> {
  const settings = settingsOf(options);
  const time = createTime(deps, settings.now);
  const started = time.now();
  const anchor = settings.wholeDays ? Math.floor(started / day) * day : started;
  const keys = createKeys(settings.seed, started);
  const { ids, revenue } = settings.undocumented;
  /** Data stands still at the anchor unless time is moved, or the sandbox is live. */
  const shared = { anchor, ids, revenue };
  const main = createDataset({
    ...shared,
    seed: settings.seed,
    name: "Fjell & Fern",
    orders: settings.orders,
    now: () => live.now(),
  });
  const events = createEvents(main, () => live.moment() ?? time.now(), ids);
  const live = createLive(main, events, settings.live ? started : anchor, settings.pace);
  let other: Dataset | undefined;

  function dataset(key: KeyRecord): Dataset {
    if (key.brand === "main") {
      if (settings.live) live.advanceTo(time.now());
      return main;
    }
    other ??= createDataset({
      ...shared,
      seed: settings.seed + 7919,
      name: "Basalt Cycling",
      orders: 150,
      now: () => anchor,
    });
    return other;
  }

  const holdsKey = (text: string) =>
    text.includes("brk_sandbox_") && keys.some(({ secret }) => text.includes(secret));
  const log: LogEntry[] = [];
  const fileLog: FileLogEntry[] = [];
  const closing = new AbortController();
  let filesUrl = "";
  const files = createFileHost({
    seed: settings.seed,
    time,
    origin: () => filesUrl,
    find: (id) =>
      main.library.find((item) => item.id === id) ?? other?.library.find((item) => item.id === id),
    holdsKey,
  });
  const handle = createHandler({
    settings,
    time,
    keys,
    endpoints: createEndpoints(settings, files),
    dataset,
    holdsKey,
    intercept: () => sandbox.intercept,
    log: (entry) => append(log, entry),
    closing: closing.signal,
  });
  const api = createServer((request, response) => {
    // A fault in a test's intercept, or the sandbox's end: the connection is all that is left to end.
    handle(request, response).catch(() => request.socket.destroy());
  });
  let fileRequests = 0;
  const fileServer = createServer((request, response) => {
    const asked = { path: readTarget(request).path, range: request.headers.range, count: ++fileRequests };
    const fault = sandbox.interceptFile?.(asked);
    append(fileLog, files.serve(request, response, fault));
  });
  filesUrl = `http://127.0.0.1:${await listen(fileServer, 0)}`;
  const port = await listen(api, settings.port).catch(async (error: unknown) => {
    await closeServer(fileServer);
    throw error;
  });

  const sandbox: Sandbox = {
    baseUrl: `http://127.0.0.1:${port}${root}`,
    key: keys[0]?.secret ?? "",
    keys: Object.fromEntries(
      keys.map(({ name, secret, note }) => [name, { name, secret, note }]),
    ) as Sandbox["keys"],
    filesUrl,
    log,
    fileLog,
    get leakedKeys() {
      return files.leakedKeys();
    },
    events,
    intercept: undefined,
    interceptFile: undefined,
    now: () => time.now(),
    advance(ms) {
      time.advance(ms);
      live.advanceTo(settings.live ? time.now() : live.now() + ms);
    },
    records: (set) => readRecords(main, set, settings),
    count: (set) => countRecords(main, set),
    setKey(name, change) {
      const key = keys.find((one) => one.name === name);
      if (!key) throw new RangeError(`No such key: ${name}.`);
      Object.assign(key, change);
    },
    async close() {
      closing.abort();
      await Promise.all([closeServer(api), closeServer(fileServer)]);
    },
  };
  return sandbox;
}

function append<T>(list: T[], entry: T): void {
  if (list.length >= longestLog) list.splice(0, longestLog / 10);
  list.push(entry);
}

function listen(server: Server, port: number): Promise<number> {
  // A caller that waits a minute for its rate limit keeps its connection.
  server.keepAliveTimeout = 90_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
