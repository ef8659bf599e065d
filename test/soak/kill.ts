import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { systemClock } from "../../src/deps.js";
import { type RecordSet, type Sandbox, startSandbox } from "../../src/sandbox/index.js";
import { draws } from "./draws.js";
import { type Api, damage, readApi, unequal } from "./inspect.js";
import { type Ended, launch, mirrorIn, requestsOf } from "./killing.js";

export interface KillOptions {
  /** Kills that must land while work is under way. */
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

export interface KillReport {
  /** Kills that landed, by scenario. */
  landed: Record<string, number>;
  /** Tries at which the process had ended before. */
  missed: number;
  /** What was lost, or half there: none, for a sound program. */
  lost: string[];
}

/** A run to be killed, and what must be equal to the API after the next. */
interface Scenario {
  name: string;
  args: readonly string[];
  /** Begins without a mirror, or with one from before the brand's data changed. */
  from: "nothing" | "older" | "outdated";
  sets: readonly RecordSet[];
  /** It reads days of its own choice, not the pages of the whole list: a page is not what is written at once. */
  byDay?: boolean;
  /** An export writes no mirror: its file is the old or the new one. */
  file?: string;
}

const scenarios: readonly Scenario[] = [
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

/** Kills real processes at random instants of their work, looks at what is left, and goes on from there. */
export async function killPoints(options: KillOptions): Promise<KillReport> {
  const report: KillReport = { landed: {}, missed: 0, lost: [] };
  const brand = await createBrand(options);
  try {
    const random = draws(options.seed);
    const lengths = new Map<string, number>();
    let tries = 0;
    while (total(report) < options.points && tries < options.points * 4 + 20) {
      const scenario = scenarios[tries % scenarios.length] as Scenario;
      tries += 1;
      const workMs = lengths.get(scenario.name) ?? options.guessMs ?? (await measure(brand, scenario));
      const landed = await killOnce(brand, scenario, random() * workMs, report);
      // One that came too late says that the work is shorter than was thought.
      lengths.set(scenario.name, landed ? workMs : workMs * 0.8);
      if (tries % 25 === 0) options.say(`${total(report)} kills landed, ${report.lost.length} lost`);
    }
    return report;
  } finally {
    await brand.close();
  }
}

const total = ({ landed }: KillReport) => Object.values(landed).reduce((sum, count) => sum + count, 0);

interface Brand {
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

async function createBrand({ bin, orders, seed, say }: KillOptions): Promise<Brand> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-kill-"));
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
function prepare({ folder, older }: Brand, { from, file }: Scenario): string {
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

async function run(
  brand: Pick<Brand, "sandbox" | "bin">,
  home: string,
  args: readonly string[],
  file?: string,
  afterMs?: number,
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
  return await launch({ bin: brand.bin, home, args, env }, sign, afterMs);
}

/** How long a scenario's work takes when nobody kills it, which it must survive too. */
async function measure(brand: Brand, scenario: Scenario): Promise<number> {
  const home = prepare(brand, scenario);
  const { code, err, workMs } = await run(brand, home, scenario.args, scenario.file);
  if (code !== 0) throw new Error(`${scenario.name} fails even when it is left alone: ${err}`);
  rmSync(home, { recursive: true, force: true });
  return workMs;
}

async function killOnce(
  brand: Brand,
  scenario: Scenario,
  afterMs: number,
  report: KillReport,
): Promise<boolean> {
  const home = prepare(brand, scenario);
  const path = mirrorIn(home);
  const { signal } = await run(brand, home, scenario.args, scenario.file, afterMs);
  if (signal !== "SIGKILL") {
    report.missed += 1;
    rmSync(home, { recursive: true, force: true });
    return false;
  }
  report.landed[scenario.name] = (report.landed[scenario.name] ?? 0) + 1;
  const lose = (what: string) => {
    report.lost.push(`${scenario.name}, after ${afterMs.toFixed(1)} ms: ${what}`);
    brand.say(report.lost.at(-1) ?? "");
  };
  if (scenario.file) {
    const now = readFileSync(join(home, "out", scenario.file));
    const isOld = now.equals(readFileSync(mirrorIn(brand.older)));
    if (!isOld && !now.toString().endsWith("\n")) lose("the file is half written");
  } else
    for (const what of damage(
      path,
      scenario.byDay ? new Map() : brand.api,
      scenario.from === "nothing" ? null : brand.before,
    ))
      lose(what);
  // Two runs: the first goes on where the killed one stood, the second sees what came behind it.
  const after = await run(brand, home, scenario.args, scenario.file);
  if (after.code !== 0) lose(`the next run ended with ${after.code}: ${after.err.slice(0, 300)}`);
  else if (existsSync(path)) for (const what of unequal(path, brand.api, scenario.sets)) lose(what);
  if (scenario.file) {
    const rows = readFileSync(join(home, "out", scenario.file), "utf8");
    if (!rows.startsWith("id,")) lose("the file is not the export");
    const left = readdirSync(join(home, "out")).length;
    if (left > 3) lose(`${left} files are left over`);
  }
  rmSync(home, { recursive: true, force: true });
  return true;
}
