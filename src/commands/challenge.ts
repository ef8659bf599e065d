import { PassThrough } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { Incomplete } from "../errors.js";
import { dayOf } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import type { JsonObject } from "../resources/types.js";
import { createApi, createBrand, serve } from "../sandbox/index.js";
import { renderTable } from "../ui/table.js";
import type { Claim } from "../verify/claims.js";
import type { Context, GlobalOptions } from "./context.js";
import { openFolder } from "./demonstration-folder.js";
import { type Copy, runPlainScript } from "./plain-script.js";
import { changeInSilence, type SilentChange } from "./silent-changes.js";

type ChallengeOptions = GlobalOptions & { out?: string; orders?: number; seed?: number };

/** Changes seven records in silence, and shows which of them a plain script finds, which a sync, and by what. */
export async function runChallenge(options: ChallengeOptions, { deps, brandapi }: Context): Promise<void> {
  const { seed = 1, orders = 2_000, out = "brandapi-challenge" } = options;
  const folder = openFolder(out, deps);
  const started = deps.clock.now();
  // Its nights are over by now.
  const begun = (Math.floor(started / dayMs) - Math.floor(orders / 490) - 5) * dayMs;
  let days = 0;
  const now = () => begun + days * dayMs + deps.clock.now() - started;
  const brand = createBrand({ seed, orders, now: begun });
  const { baseUrl, close } = await serve(createApi({ brands: [brand], now }), 0);
  const key = brand.keys[0]?.secret ?? "";
  const own = { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_DB: folder.mirror };
  const profile = { BRANDAPI_PROFILE: "demo", BRANDAPI_CONFIG_DIR: folder.path, BRANDAPI_RATE_LIMIT: "none" };
  const there = { ...deps, env: { ...deps.env, ...own, ...profile }, clock: { ...deps.clock, now } };
  const copy: Copy = { orders: new Map(), roster: new Map() };
  const say = (text: string) => void (options.quiet || deps.stdout.write(`${text}\n`));

  /** Runs a command, and returns its lines of JSON: they say what is incomplete. */
  async function run<Line>(command: string): Promise<Line[]> {
    const stdout = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    await brandapi([...command.split(" "), "--quiet"], { ...there, stdout }).catch((error: unknown) => {
      if (!(error instanceof Incomplete)) throw error;
    });
    const lines = String(stdout.read() ?? "").split("\n");
    return lines.flatMap((line) => (line ? (JSON.parse(line) as Line) : []));
  }
  const evidence = async () => {
    const verdicts = await run<{ evidence?: Claim[] }>("verify orders roster --evidence --json");
    return verdicts.flatMap((one) => one.evidence ?? []);
  };
  /** Lets both tools read, and returns the records that each holds then. */
  const night = async () => {
    await runPlainScript(copy, deps.fetch, baseUrl, key, now());
    await run("sync orders roster --json");
    const mirrored = await run<JsonObject>("export orders --ndjson");
    mirrored.push(...(await run<JsonObject>("export roster --ndjson")));
    return { script: [...copy.orders.values(), ...copy.roster.values()], mirrored };
  };
  /** True if records hold one as the brand has it now, or lack it if the brand does. */
  const isFound = (records: readonly JsonObject[], { id }: SilentChange) => {
    const isIt = (one: { [member: string]: unknown }) => id === (one.id ?? one.relationship_id);
    return isDeepStrictEqual(records.find(isIt), [...brand.orders, ...brand.roster].find(isIt));
  };

  try {
    say(`A plain script (30 days, page by page) and \`brandapi sync\` read a brand of ${orders} orders.`);
    await night();
    // The evening before the next night.
    days = 0.8;
    const changes = changeInSilence(brand, seed, now());
    let claims = await evidence();
    const told = changes.map((change) => ({ ...change, ...foretell(change, claims) }));
    say("\nThen seven records change in silence. `brandapi verify --evidence` says what shows each:\n");
    for (const { by, id, what } of told) say(`  ${what}, ${id}: ${by}`);
    days = 1;
    const { mirrored, script } = await night();
    const rows = told.map((one) => {
      const found = [isFound(script, one) ? "found" : "missed", isFound(mirrored, one) ? "found" : "not yet"];
      return [`${one.what}, ${one.id}`, ...found, one.by];
    });
    say(`\nAfter the night of ${dayOf(now())}:\n`);
    say(renderTable(["change", "script", "brandapi", "by which evidence"], rows));
    claims = await evidence();
    let open = told.filter((one) => !isFound(mirrored, one));
    if (open.length > 0) say("\n`brandapi verify --evidence` still says:\n");
    for (const one of open) say(`  ${one.what}, ${one.id}: ${foretell(one, claims).by}`);
    while (open.length > 0) {
      const late = open.find((one) => one.night <= dayOf(now()));
      if (late) throw new Incomplete(`${late.id} was not found by the night of ${late.night}.`);
      days += 1;
      const { mirrored } = await night();
      const found = open.filter((one) => isFound(mirrored, one));
      for (const { id } of found) say(`  the night of ${dayOf(now())}: ${id} is found`);
      open = open.filter((one) => !found.includes(one));
    }
    const [first] = claims;
    say(
      `\nTry it by hand (the sandbox ends now: set the two variables to your own API): ${first?.api} in the API,`,
    );
    say(`${first?.mirror} in the mirror, ${out}.\n\n${first?.request}\n${first?.sql}\n`);
    say(`Done in ${((deps.clock.now() - started) / 1_000).toFixed(1)} s.`);
  } finally {
    await close();
  }
}

/** Returns what shows a change, by the claims of `verify --evidence`, and the night (`2026-11-25`) that reads it. */
function foretell({ dated, what }: SilentChange, claims: readonly Claim[]) {
  const isHere = ({ from, to }: Claim) => (from ?? "") <= (dated ?? "") && (dated ?? "") <= (to ?? "9999");
  const spots = claims.filter(({ check }) => check === "blind spot");
  const [tonight = "", spot = ""] = [spots[0], spots.find(isHere)].map((one) => one?.read_again_by ?? "");
  const resource = dated ? "orders" : "roster";
  const differing = claims.filter((one) => one.resource === resource && one.agrees === false && isHere(one));
  const day = differing.find(({ check }) => check === "a day");
  // The last count of several is the narrowest.
  const counted = differing.findLast(({ check }) => !dated || check === what);
  const by = [
    dated && spot === tonight ? "the night reads its date in any case" : [],
    day ? `figures of ${day.from?.slice(0, 10)}` : [],
    counted ? `count of ${dated ? what : resource}: ${counted.api}, here ${counted.mirror}` : [],
  ].flat();
  if (by.length === 0) return { by: `nothing; read again by the night of ${spot}`, night: spot };
  return { by: by.join("; "), night: tonight };
}
