import { beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { lockMirror } from "../../src/store/mirror-lock.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, type ProgramOptions } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";

const hosts = [
  { id: "h1", username: "ada", first_name: "Ada", last_name: "Lovelace" },
  { id: "twelve-chars", username: null, first_name: "Grace", last_name: null },
  { id: "twelve-chars-and-more", username: "more", first_name: null, last_name: null },
  { id: "0A1B2C3D-9", username: null, first_name: null, last_name: null },
  { id: "murray99-7", username: "murray99", first_name: null, last_name: null },
  { id: "first-of-two", username: "two", first_name: null, last_name: null },
  { id: "second-of-two", username: "two", first_name: null, last_name: null },
];
let db: string;

beforeAll(async () => {
  const mirror = await makeMirror();
  const orders = hosts.map((host, n) => anOrder(n, { host }));
  writeRead(mirror, "orders", orders);
  mirror.db.close();
  db = mirror.path;
});

const forget = (host: string, flags: readonly string[] = [], options: ProgramOptions = {}) =>
  brandapi(["forget", "--host", host, "--db", db, ...flags], options);

const answer = (host: string, text: string) =>
  forget(host, [], { tty: { stdin: true, stderr: true }, stdin: `${text}\n` });

function read(sql: string): unknown[] {
  const mirror = new Sqlite(db, { readonly: true });
  const rows = mirror.prepare(sql).all();
  mirror.close();
  return rows;
}

test.each([
  ["a handle", "@ada", "Forget @ada (Ada Lovelace, ID h1) permanently"],
  ["a complete ID that is shorter than 8 characters", "h1", "Forget @ada (Ada Lovelace, ID h1) "],
  ["a complete ID that is also the start of another ID", "twelve-chars", "Forget Grace (ID twelve-chars) "],
  ["the first 8 characters of an ID", "0A1B2C3D", "Forget a host without a name (ID 0A1B2C3D-9) "],
  ["the start of an ID typed in the wrong case", "0a1b2c3d-", "(ID 0A1B2C3D-9) "],
  ["a handle that is also the start of the host's ID", "murray99", "Forget @murray99 (ID murray99-7) "],
])("forget finds a host by %s", async (_, typed, question) => {
  const { code, err } = await answer(typed, "n");
  expect([code, err]).toEqual([2, expect.stringContaining(question)]);
});

test.each([
  ["the first 7 characters of an ID, because 8 are required", "0A1B2C3", "Unknown host: `0A1B2C3`."],
  [
    "the end of an ID, because only the start identifies a host",
    "chars-and-more",
    "Unknown host: `chars-and-more`.",
  ],
  ["a prefix that two IDs share", "twelve-c", "`twelve-c` matches 2 hosts."],
  ["a handle that two hosts share", "two", "`two` matches 2 hosts."],
])("forget rejects %s", async (_, typed, error) => {
  const { code, err } = await answer(typed, "n");
  expect([code, err]).toEqual([2, expect.stringContaining(error)]);
});

test("forget erases nothing unless the answer to the prompt is `y` or `yes` in lower or upper case", async () => {
  for (const no of ["", "n", "no", "yep", "yy", "oh yes"]) {
    const { code, err } = await answer("murray99-7", no);
    expect([code, err], no).toEqual([2, expect.stringContaining("No host was forgotten.")]);
  }
  const select = "SELECT host_username FROM orders WHERE host_id = 'murray99-7'";
  expect(read(select)).toEqual([{ host_username: "murray99" }]);
  for (const yes of ["y", "Y", " yes "]) expect((await answer("murray99-7", yes)).code, yes).toBe(0);
  expect(read(select)).toEqual([{ host_username: null }]);
});

test("forget prints and records the number of rewritten records", async () => {
  const clock = { now: () => Date.parse("2026-11-05T00:00:00.000Z") };
  const first = await forget("h1", ["--yes", "--json"], { clock });
  expect(JSON.parse(first.out)).toEqual({ host_id: "h1", records: { orders: 1 }, last_backup: null });
  const again = await forget("h1", ["--yes"], { clock });
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("including their history: none.")]);
  expect(await forget("h1", ["--yes", "--quiet"], { clock })).toMatchObject({ code: 0, out: "" });
  const runs = read("SELECT rows_changed, outcome, started_at, finished_at FROM sync_runs ORDER BY run_id");
  const at = "2026-11-05T00:00:00.000Z";
  const done = { outcome: "done", started_at: at, finished_at: at };
  expect(runs.slice(-3)).toEqual([1, 0, 0].map((rows_changed) => ({ rows_changed, ...done })));
});

test("forget exits with code 9 and erases nothing while another run is using the mirror", async () => {
  const lock = await lockMirror(db, { clock: systemClock, signal: new AbortController().signal });
  const { code } = await forget("more", ["--yes"]);
  lock.release();
  expect([code, read("SELECT 1 FROM orders WHERE host_username = 'more'")]).toEqual([9, [{ 1: 1 }]]);
});
