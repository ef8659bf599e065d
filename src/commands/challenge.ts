import { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import type { Deps } from "../deps.js";
import { Incomplete } from "../errors.js";
import { dayOf, includes } from "../lib/ranges.js";
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

const keyOf = { orders: "id", roster: "relationship_id" } as const;

/** Changes seven records in silence, and shows which of them a plain script finds, which a sync, and by what. */
export async function runChallenge(options: ChallengeOptions, { deps, brandapi }: Context): Promise<void> {
  const { seed = 1, orders = 2_000 } = options;
  const folder = openFolder(options.out ?? "brandapi-challenge", [], deps);
  const started = deps.clock.now();
  // Its nights are over by now.
  const begun = Math.floor(started / dayMs - orders / 490 - 5) * dayMs;
  let days = 0;
  const now = () => begun + days * dayMs + deps.clock.now() - started;
  const brand = createBrand({ seed, orders, now: begun });
  const { baseUrl, close } = await serve(createApi({ brands: [brand], now }), 0);
  const key = brand.keys[0]?.secret ?? "";
  const own = { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_DB: folder.mirror };
  const profile = { BRANDAPI_PROFILE: "demo", BRANDAPI_CONFIG_DIR: folder.path, BRANDAPI_RATE_LIMIT: "none" };
  const copy: Copy = { orders: new Map(), roster: new Map() };
  const say = (text: string) => void (options.quiet || deps.stdout.write(`${text}\n`));

  /** Runs a command, and returns its output as JSON, line by line; the output says what is incomplete. */
  async function run<Line>(command: string): Promise<Line[]> {
    let text = "";
    const stdout = new Writable({
      write(chunk, _, done) {
        text += chunk;
        done();
      },
    });
    const at: Deps = {
      ...deps,
      env: { ...deps.env, ...own, ...profile },
      stdout,
      clock: { ...deps.clock, now },
    };
    await brandapi([...command.split(" "), "--quiet"], at).catch((error: unknown) => {
      if (!(error instanceof Incomplete)) throw error;
    });
    return text.split("\n").flatMap((line) => (line ? (JSON.parse(line) as Line) : []));
  }
  const evidence = async () =>
    (await run<{ evidence?: Claim[] }>("verify orders roster --evidence --json")).flatMap(
      (one) => one.evidence ?? [],
    );
  const night = async () => {
    await runPlainScript(copy, { fetch: deps.fetch, baseUrl, key, now: now() });
    const runs = await run<{ error?: unknown }>("sync orders roster --json");
    for (const { error } of runs) if (typeof error === "string") say(`\n${error}`);
  };
  const mirrored = async () => ({
    orders: await run<JsonObject>("export orders --ndjson"),
    roster: await run<JsonObject>("export roster --ndjson"),
  });
  /** True if records hold one as the brand has it now, or lack it if the brand does. */
  const isFound = (all: Record<keyof Copy, Iterable<JsonObject>>, { id, resource }: SilentChange) => {
    const lists = [[...all[resource]], brand[resource] as readonly JsonObject[]];
    const [there, here] = lists.map((list) => list.find((record) => record[keyOf[resource]] === id));
    return isDeepStrictEqual(there, here);
  };

  try {
    say(
      `A brand has ${orders} orders. A plain script (30 days, page by page) and \`brandapi sync\` read all of it.`,
    );
    await night();
    // The evening before the next night.
    days = 0.8;
    const changes = changeInSilence(brand, seed, now());
    const claims = await evidence();
    const told = changes.map((change) => ({ ...change, ...foretell(change, claims) }));
    say("\nThen seven records change in silence. `brandapi verify --evidence` says what shows each:\n");
    for (const { by, id, what } of told) say(`  ${what}, ${id}: ${by}`);
    days = 1;
    await night();
    const script = { orders: [...copy.orders.values()], roster: [...copy.roster.values()] };
    let mirror = await mirrored();
    const rows = told.map((one) => [
      `${one.what}, ${one.id}`,
      isFound(script, one) ? "found" : "missed",
      isFound(mirror, one) ? "found" : "not yet",
      one.by,
    ]);
    say(`\nAfter the night of ${dayOf(now())}:\n`);
    say(renderTable(["change", "script", "brandapi", "by which evidence"], rows));
    let open = told.filter((one) => !isFound(mirror, one));
    if (open.length > 0) say("\n`brandapi verify --evidence` still says:\n");
    const after = await evidence();
    for (const one of open) say(`  ${one.what}, ${one.id}: ${foretell(one, after).by}`);
    while (open.length > 0) {
      const late = open.find((one) => one.night <= dayOf(now()));
      if (late) throw new Incomplete(`${late.id} was not found by the night of ${late.night}.`);
      days += 1;
      await night();
      mirror = await mirrored();
      const found = open.filter((one) => isFound(mirror, one));
      say(
        `  the night of ${dayOf(now())}: ${found.map(({ id }) => `${id} is found`).join(", ") || "nothing new"}`,
      );
      open = open.filter((one) => !found.includes(one));
    }
    const [first] = await evidence();
    say(
      `\nTry it by hand: ${first?.api} in the API, ${first?.mirror} in the mirror (${folder.shown}). The sandbox ends now, so the`,
    );
    say("first line needs an API of your own: `brandapi verify --evidence` prints it.\n");
    say(`${first?.request}\n${first?.sql}\n`);
    say(`Done in ${((deps.clock.now() - started) / 1_000).toFixed(1)} s.`);
  } finally {
    await close();
  }
}

/** Returns the evidence that shows a change, and the night (`2026-11-25`) by which its record is read again. */
function foretell({ dated, resource, what }: SilentChange, claims: readonly Claim[]) {
  const ms = (at: string | null, none: number) => (at === null ? none : Date.parse(at));
  const isIn = ({ from, to }: Claim) =>
    dated === null || includes({ from: ms(from, -8e15), to: ms(to, 8e15) }, dated);
  const here = claims.filter((claim) => claim.resource === resource && isIn(claim));
  const against = here.filter(({ agrees }) => agrees === false);
  const [spot, next] = [here, claims].map(
    (all) => all.find(({ check }) => check === "blind spot")?.read_again_by,
  );
  // The last count of several is the narrowest.
  const counted = against.findLast(({ check }) => dated === null || check === what);
  const day = against.find(({ check }) => check === "a day");
  const by = [
    spot && spot === next ? "the night reads its date in any case" : [],
    day && dated !== null ? `figures of ${day.from?.slice(0, 10)}` : [],
    counted ? `count of ${dated === null ? resource : what}: ${counted.api}, here ${counted.mirror}` : [],
  ].flat();
  if (by.length > 0) return { by: by.join("; "), night: next ?? "" };
  return { by: `nothing; read again by the night of ${spot}`, night: spot ?? "" };
}
