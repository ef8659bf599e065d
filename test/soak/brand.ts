import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { systemClock } from "../../src/deps.js";
import { type RecordSet, type Sandbox, startSandbox } from "../support/old-sandbox/index.js";
import { type Api, readApi } from "./inspect.js";
import { type Ended, launch, mirrorIn, requestsOf, type Strike } from "./launching.js";

export interface StrikeOptions {
  /** Strikes that must land while work is under way. */
  points: number;
  seed: number;
  /** The built program's script. */
  bin: string;
  /** Orders in the history. */
  orders: number;
  /** Milliseconds of work to begin with, where measuring each scenario first would take too long. */
  guessMs?: number;
  say(line: string): void;
}

/** A run that something happens to, and what must be equal to the API after the next. */
export interface Scenario {
  name: string;
  args: readonly string[];
  /** Begins without a mirror, or with one from before the brand's data changed. */
  from: "nothing" | "older" | "outdated";
  sets: readonly RecordSet[];
  /** It reads days of its own choice, not the pages of the whole list: a page is not what is written at once. */
  byDay?: boolean;
  /** An export writes no mirror: its file is the old or the new one. */
  file?: string;
  /** How it ends where nothing happens to it, if not with 0. */
  code?: number;
}

export const scenarios: readonly Scenario[] = [
  { name: "orders, first read", args: ["sync", "orders"], from: "nothing", sets: ["orders"] },
  { name: "orders, window", args: ["sync", "orders", "--window", "200d"], from: "older", sets: ["orders"] },
  { name: "orders, everything again", args: ["sync", "orders", "--full"], from: "older", sets: ["orders"] },
  { name: "roster", args: ["sync", "roster"], from: "older", sets: ["roster"] },
  { name: "content", args: ["sync", "content", "--full"], from: "nothing", sets: ["content"] },
  {
    name: "opportunities with details",
    args: ["sync", "opportunities"],
    from: "nothing",
    sets: ["opportunity-details"],
  },
  { name: "analytics", args: ["sync", "analytics-clicks", "analytics-hosts"], from: "nothing", sets: [] },
  {
    name: "gifts, codes, surveys",
    args: ["sync", "gifts", "codes", "surveys"],
    from: "nothing",
    sets: ["gifts", "codes"],
  },
  {
    name: "everything",
    args: ["sync", "--window", "200d"],
    from: "older",
    sets: ["orders", "roster", "recommendations", "opportunity-details", "content", "gifts", "codes"],
  },
  {
    name: "verify --repair",
    args: ["verify", "orders", "--repair"],
    from: "older",
    sets: ["orders"],
    byDay: true,
  },
  { name: "a new version's tables", args: ["sync", "roster"], from: "outdated", sets: ["roster"] },
  {
    name: "export to a file",
    args: ["export", "orders", "--csv", "-o", "out/orders.csv"],
    from: "older",
    sets: [],
    file: "orders.csv",
  },
];

export interface Brand {
  sandbox: Sandbox;
  bin: string;
  folder: string;
  /** A mirror from before the brand's data changed, and the API's records then and now. */
  older: string;
  before: Api;
  api: Api;
  say(line: string): void;
  close(): Promise<void>;
}

export async function createBrand({ bin, orders, seed, say }: Omit<StrikeOptions, "points">): Promise<Brand> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-soak-"));
  const sandbox = await startSandbox({ orders, seed, rateLimit: null, pace: 0 }, { clock: systemClock });
  while (sandbox.count("roster") < 330) sandbox.events.joinRoster();
  while (sandbox.count("content") < 330) sandbox.events.addContent();
  const older = join(folder, "older");
  mkdirSync(older);
  const brand = { sandbox, bin, folder, older, before: readApi(sandbox) };
  const first = await run(brand, older, ["sync"]);
  if (first.code !== 0) throw new Error(`The first sync failed: ${first.err}`);
  happen(sandbox);
  return {
    ...brand,
    say,
    api: readApi(sandbox),
    async close() {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What has changed at the brand since the older mirror was made. */
function happen({ events, records, now }: Sandbox): void {
  const day = 86_400_000;
  const orders = [...records("orders")] as { id: string; order_date: string; is_cancelled: boolean }[];
  // What changes on a cancelled order, or on a day that is not over, moves no figure: only reading it again would tell.
  const isRecent = ({ order_date }: { order_date: string }) =>
    Date.parse(order_date) > now() - 150 * day && Date.parse(order_date) < now() - 2 * day;
  const recent = orders.filter((order) => isRecent(order) && !order.is_cancelled);
  for (const [place, { id }] of recent.entries()) {
    if (place % 3 === 0) events.refund(id, 1);
    else if (place % 17 === 0) events.withdraw(id);
    else if (place % 7 === 0) events.cancel(id);
  }
  for (let n = 1; n <= 30; n += 1) events.lateOrder(now() - n * 4 * day);
  const hosts = [...records("roster")] as { host: { id: string } }[];
  for (const [place, { host }] of hosts.entries())
    if (place % 2) events.renameHost(host.id, { intro: `changed ${place}` });
  for (const { host } of hosts.slice(0, 40)) events.leaveRoster(host.id);
  for (let n = 0; n < 20; n += 1) events.addContent();
}

let homes = 0;

/** A HOME as a scenario finds it. */
export function prepare({ folder, older }: Brand, { from, file }: Scenario): string {
  const home = join(folder, `home-${++homes}`);
  mkdirSync(join(home, "out"), { recursive: true });
  if (from !== "nothing") copyFileSync(mirrorIn(older), mirrorIn(home));
  if (from === "outdated") {
    const db = new Sqlite(mirrorIn(home));
    db.exec("UPDATE mirror_info SET value = 'older' WHERE name LIKE 'shape:%'");
    db.close();
  }
  if (file) copyFileSync(mirrorIn(older), join(home, "out", file));
  return home;
}

export async function run(
  brand: Pick<Brand, "sandbox" | "bin">,
  home: string,
  args: readonly string[],
  file?: string,
  strike?: Strike,
): Promise<Ended> {
  const { baseUrl, key } = brand.sandbox;
  const env = {
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_KEY: key,
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: mirrorIn(home),
  };
  const sign = file
    ? { folder: join(home, "out"), besides: new Set([file]) }
    : { requests: requestsOf(brand.sandbox) };
  return await launch({ bin: brand.bin, home, args, env }, sign, strike);
}

/** How long a scenario's work takes when it is struck by nothing, which it must survive too. */
export async function measure(brand: Brand, scenario: Scenario): Promise<number> {
  const home = prepare(brand, scenario);
  const { code, err, workMs } = await run(brand, home, scenario.args, scenario.file, {
    afterMs: 0,
    act: () => {},
  });
  if (code !== (scenario.code ?? 0))
    throw new Error(`${scenario.name} fails even when it is left alone: ${err}`);
  rmSync(home, { recursive: true, force: true });
  return workMs;
}
