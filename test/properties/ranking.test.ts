import { expect, test } from "vitest";
import { openMirror } from "../../src/query/open.js";
import { findResource } from "../../src/resources/index.js";
import type { JsonObject } from "../../src/resources/types.js";
import fc from "../support/property.js";
import { createWorld, type Disturbance, type World } from "./world.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 25);

/** One thing that happens to the ranking: `pick` chooses a row, `sales` its new figures. */
interface Event {
  atRequest: number;
  what: "sell" | "leave" | "come" | "comeHostless";
  pick: number;
  sales: number;
}

const event: fc.Arbitrary<Event> = fc.record({
  atRequest: fc.integer({ min: 1, max: 12 }),
  what: fc.constantFrom("sell", "sell", "leave", "come", "comeHostless"),
  pick: fc.nat(99),
  sales: fc.nat(9),
});

const ranking = fc.record({
  hosts: fc.integer({ min: 0, max: 20 }),
  hostless: fc.integer({ min: 0, max: 3 }),
  mostPerPage: fc.integer({ min: 2, max: 8 }),
  ties: fc.constantFrom("stable", "reversed"),
  pastEnd: fc.constantFrom("empty", "refused"),
  nights: fc.array(fc.array(event, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
});

test("the ranking: whatever moves while it is read, a verified run has every row of it", async () => {
  const property = fc.asyncProperty(ranking, async ({ hosts, hostless, nights, ...behaviour }) => {
    const beginning = { seed: 1, records: 0, crowd: 1, undated: 0, finest: "milliseconds" } as const;
    const world = createWorld("roster", beginning, behaviour);
    const resource = findResource("analytics-hosts");
    if (!resource) throw new RangeError("No such resource.");
    world.resource = resource;
    world.api.records.hosts = [
      ...Array.from({ length: hosts }, (_, n) => rowOf(`h${n}`, n % 5)),
      ...Array.from({ length: hostless }, (_, n) => rowOf(null, n % 2)),
    ];
    try {
      for (const events of nights) expect(await night(world, events)).toEqual([]);
      expect(await night(world, [])).toEqual([]);
    } finally {
      world.close();
    }
  });
  await fc.assert(property, { numRuns: runs });
}, 3_600_000);

/** Reads the ranking while it moves. @returns what a verified run, or a peaceful one, has wrong */
async function night(world: World, events: readonly Event[]): Promise<string[]> {
  const rows = () => world.api.records.hosts as JsonObject[];
  const states = [[...rows()]];
  let isUntold = false;
  const disturbances = events.map(
    (one): Disturbance => ({
      atRequest: one.atRequest,
      happen() {
        const before = new Set(rows());
        happenTo(world, one);
        states.push([...rows()]);
        const changed = [...before].filter((row) => !rows().includes(row));
        isUntold ||= one.what === "sell" && changed.some(({ host }) => host === null);
        return undefined;
      },
    }),
  );
  const { verified, thrown, error } = await world.run("sync", { acceptRemovals: true }, disturbances);
  if (thrown !== null) return [`it broke: ${thrown}`];
  if (!verified) return events.length === 0 ? [`a peaceful run is not verified: ${error}`] : [];
  const mine = await held(world);
  // Nothing moved: row by row. Otherwise each row may be of another instant, but somebody's ranking was as long.
  const isQuiet = states.length === 1;
  const textOf = (row: JsonObject) =>
    isQuiet ? JSON.stringify(row) : String((row.host as JsonObject | null)?.id);
  const text = (some: readonly JsonObject[]) => some.map(textOf).sort().join(" ");
  // One who leaves while another comes, between the same two answers, can hide a third: so in every list.
  const isSwapped = events.some(
    (one) =>
      one.what === "leave" &&
      events.some((other) => other.what.startsWith("come") && other.atRequest === one.atRequest),
  );
  // A row without a host whose figures change while it moves from page to page is another one: README, limits.
  if (isSwapped || isUntold || states.some((state) => text(state) === text(mine))) return [];
  return [`verified with ${text(mine)} where there were ${states.map(text).join(" or ")}`];
}

function happenTo({ api }: World, { what, pick, sales }: Event): void {
  const rows = [...(api.records.hosts as JsonObject[])];
  const at = pick % Math.max(1, rows.length);
  if (what === "come") rows.push(rowOf(`x${pick}-${sales}-${rows.length}`, sales));
  else if (what === "comeHostless") rows.push(rowOf(null, sales));
  else if (what === "leave") rows.splice(at, 1);
  else if (rows[at]) rows[at] = { ...rows[at], sales };
  api.records.hosts = rows;
}

function rowOf(id: string | null, sales: number): JsonObject {
  const host = id === null ? null : { id, username: id };
  return { host, clicks: 1, buy_now_clicks: 1, orders: 1, sales };
}

async function held({ path, resource }: World): Promise<JsonObject[]> {
  const mirror = await openMirror(path);
  try {
    const rows = mirror.db.prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL");
    return rows
      .pluck()
      .all(resource.name)
      .map((json) => JSON.parse(String(json)) as JsonObject);
  } finally {
    mirror.db.close();
  }
}
