import { PassThrough } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { Incomplete } from "../errors.js";
import { dayOf } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import { renderTable } from "../ui/table.js";
import type { Claim } from "../verify/claims.js";
import type { Context } from "./context.js";
import { type DemoOptions, demonstrate } from "./demonstration.js";
import { runPlainScript } from "./plain-script.js";
import { changeInSilence } from "./silent-changes.js";

/** Changes seven records in silence, and shows which of them a plain script finds, which a sync, and by what. */
export async function runChallenge(options: DemoOptions, { deps, brandapi }: Context): Promise<void> {
  const { seed = 1, orders = 2_000, out = "brandapi-challenge", quiet } = options;
  // All nights are over by now: each reads 490 orders again.
  let time = Math.floor(deps.clock.now() / dayMs - orders / 490 - 5) * dayMs;
  const there = { ...deps, clock: { ...deps.clock, now: () => time } };
  const { at, brand, close } = await demonstrate(out, { seed, orders, now: time }, there);
  const copy = new Map<string, object>();
  const say = (text: string) => void (quiet || deps.stdout.write(`${text}\n`));

  /** Runs a command, and returns its lines of JSON: they say what is incomplete. */
  async function run<Line>(command: string): Promise<Line[]> {
    const stdout = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    await brandapi([...command.split(" "), "--quiet"], { ...at, stdout }).catch((error: unknown) => {
      if (!(error instanceof Incomplete)) throw error;
    });
    const lines = String(stdout.read() ?? "").split("\n");
    return lines.filter(Boolean).map((line): Line => JSON.parse(line));
  }
  const night = () => Promise.all([runPlainScript(copy, at), run("sync orders roster")]);
  const verify = () => run<{ evidence: Claim[] }>("verify orders roster --evidence --json");
  const readClaims = async () => (await verify()).flatMap(({ evidence }) => evidence);

  try {
    say(`A plain script (30 days, page by page) and \`brandapi sync\` read a brand of ${orders} orders.`);
    await night();
    const before = new Map(copy);
    let open = changeInSilence(brand, seed, time);
    say("\nThen seven records change in silence. `brandapi verify --evidence` says what shows each:\n");
    let claims = await readClaims();
    for (const one of open) say(`  ${one.name}: ${evidenceOf(one, claims)}`);
    while (open.length > 0) {
      if (time > deps.clock.now()) throw new Incomplete(`Not found in any night: ${open[0]?.name}.`);
      time += dayMs;
      await night();
      const changes = await run<{ key: string }>("export changes --ndjson");
      const missed = open.filter(({ id }) => changes.every(({ key }) => key !== id));
      const rows = open.map((one) => [
        one.name,
        isDeepStrictEqual(copy.get(one.id), before.get(one.id)) ? "missed" : "found",
        missed.includes(one) ? "not yet" : "found",
        evidenceOf(one, claims),
      ]);
      say(`\nThe night of ${dayOf(time)}:\n`);
      say(renderTable(["change", "script", "brandapi", "evidence"], rows));
      open = missed;
      claims = await readClaims();
    }
    const [first] = claims;
    say(`\nBy hand, with your own API (here ${first?.api} orders, ${first?.mirror} in ${out}):\n`);
    say(`${first?.request}\n${first?.sql}`);
  } finally {
    await close();
  }
}

/** Returns the claim that shows a change, or else the night (`2026-11-25`) by which its order is read again. */
function evidenceOf({ check, dated }: Record<"check" | "dated", string>, claims: readonly Claim[]): string {
  const ofDate = claims.filter(({ from, to }) => (from ?? "") <= dated && dated <= (to ?? "9999"));
  const shown = ofDate.findLast((one) => one.agrees === false && one.check === check);
  if (!shown) return `nothing: ${ofDate.find((one) => one.check === "blind spot")?.note}`;
  return shown.api === null ? `${shown.note}` : `${check}: ${shown.api} in the API, ${shown.mirror} here`;
}
