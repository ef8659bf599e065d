import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { HostProfile } from "../../src/sandbox/people.js";
import { openMirror } from "../../src/store/open.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, minute } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

/** A string that occurs only in fields that identify the host. */
const secret = "Zyxwvut-Qqq";

let synced: ReturnType<typeof syncTwice> | undefined;

/**
 * Returns a brand whose mirror contains a host under two names, in records, versions, changes and ranking snapshots.
 */
async function brandWithHost(): Promise<TestBrand & { hostId: string }> {
  synced ??= syncTwice();
  const { brand, hostId } = await synced;
  const copy = makeBrand({ ...brand.data, now: brand.now() });
  copyFileSync(brand.db, copy.db);
  return Object.assign(copy, { hostId });
}

/** Syncs a brand before and after one of its hosts is renamed. Each test uses a copy of the result. */
async function syncTwice(): Promise<{ brand: TestBrand; hostId: string }> {
  const brand = makeBrand({ history: 20, listLimit: 6 });
  const hostId = brand.data.roster[0]?.host?.id ?? "";
  const name = (n: number) => ({
    ...{ username: `${secret}-u${n}`, first_name: `${secret}-f${n}`, last_name: `${secret}-l${n}` },
    ...{ profile_photo: `https://files.example/${secret}${n}.jpg`, title: `${secret}-t${n}` },
    ...{ intro: `${secret}-i${n}`, location: `${secret}-p${n}`, socials: { site: `${secret}-s${n}` } },
  });
  brand.order({ host: { id: hostId, ...name(1) } });
  const unattributed = brand.order({ host: null });
  rename(brand, hostId, name(1));
  brand.pass(minute);
  await brand.run("sync");
  brand.pass(day);
  rename(brand, hostId, name(2));
  // An added host is recorded as a single change, which contains the host's data as JSON.
  brand.data.orders = brand.data.orders.map((one) =>
    one.id === unattributed ? { ...one, host: { id: hostId, ...name(2) } } : one,
  );
  await brand.run("sync --full");
  return { brand, hostId };
}

function rename({ data }: TestBrand, hostId: string, fields: Partial<HostProfile>): void {
  const renamed = <T extends { host: { id: string } | null }>(list: readonly T[]): T[] =>
    list.map((one) => (one.host?.id === hostId ? { ...one, host: { ...one.host, ...fields } } : one));
  data.orders = renamed(data.orders);
  data.roster = renamed(data.roster);
  data.recommendations = renamed(data.recommendations);
  data.content = renamed(data.content);
  data.people = data.people.map((one) =>
    one.profile.id === hostId ? { ...one, profile: { ...one.profile, ...fields } } : one,
  );
}

const tables =
  "orders roster recommendations opportunities opportunity_assignments content changes hosts".split(" ");

function countInFiles(brand: TestBrand, text: string): number {
  const files = ["", "-wal", "-shm"].map((end) => brand.db + end).filter((path) => existsSync(path));
  return countIn(files.map((path) => readFileSync(path, "latin1")).join("\n"), text);
}

/** Counts how often a string occurs in exports of all tables, and in an export of the orders as of an earlier time. */
async function countInExports(brand: TestBrand, text: string): Promise<number> {
  const texts: string[] = [];
  for (const table of tables) texts.push((await brand.run(`export ${table} --ndjson`)).out);
  texts.push((await brand.run("export orders --as-of 2026-11-22 --ndjson")).out);
  return countIn(texts.join("\n"), text);
}

const countIn = (searched: string, text: string) => searched.split(text).length - 1;

const sums = (brand: TestBrand) => [
  brand.sql("SELECT resource, count(*), count(removed_at) FROM records GROUP BY resource"),
  brand.sql("SELECT month, currency, orders, gross_amount, net_amount FROM sales_by_month"),
  brand.sql("SELECT count(*), sum(quantity), sum(price) FROM order_line_items"),
];

async function doctorOf(brand: TestBrand, check: string) {
  const { out } = await brand.run("doctor --json");
  const lines = out.trim().split("\n");
  return lines.map((line) => JSON.parse(line)).find((line) => line.check === check);
}

async function verdicts(brand: TestBrand) {
  const { code, out } = await brand.run("verify orders roster content --json");
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return [code, ...lines.map(({ resource, state, tables }) => [resource, state, tables?.state])];
}

test("forget removes a host's names from the mirror's files and exports, keeps totals, and prevents later syncs from storing the names", async () => {
  const brand = await brandWithHost();
  expect(countInFiles(brand, secret)).toBeGreaterThan(20);
  expect(await countInExports(brand, secret)).toBeGreaterThan(20);
  expect(brand.sql("SELECT kind FROM changes WHERE field = 'host'")).toEqual([{ kind: "changed" }]);
  const before = [sums(brand), await verdicts(brand)];
  const ran = await brand.run(`forget --host @${secret}-u2 --yes`);
  expect(ran.out).toMatch(
    /^Forgot the host [0-9a-f-]+; the ID is kept\. Rewritten records, including their history: roster 1, .*orders \d+.*\.\n/,
  );
  expect(ran.out).toContain(
    "Existing backups, exports and mirrors kept by `backup --restore` still contain the host. Last backup: none",
  );
  expect([countInFiles(brand, secret), await countInExports(brand, secret)]).toEqual([0, 0]);
  expect([sums(brand), await verdicts(brand)]).toEqual(before);
  expect(brand.sql("SELECT host_id, host_username FROM roster WHERE host_id = ?", brand.hostId)).toEqual([
    { host_id: brand.hostId, host_username: null },
  ]);
  expect(brand.lastRun("forget")).toMatchObject({ outcome: "done", rows_read: 0 });
  expect(await doctorOf(brand, "forgotten")).toMatchObject({
    state: "ok",
    text: expect.stringContaining("only IDs are kept"),
  });
  expect((await doctorOf(brand, "tables")).state).toBe("ok");

  brand.pass(day);
  rename(brand, brand.hostId, { username: `${secret}-u3` });
  const sync = await brand.run("sync roster orders --full");
  expect(sync.err).toMatch(/roster: \d+ read, 0 new, 0 changed/);
  expect(countInFiles(brand, secret)).toBe(0);
  expect((await brand.run("status")).out).toContain("Forgotten: 1 host");
});

test("doctor reports a failed check if another program has stored a forgotten host's data again", async () => {
  const brand = await brandWithHost();
  await brand.run(`forget --host ${brand.hostId} --yes`);
  const mirror = await openMirror(brand.db);
  const set = "UPDATE records SET json = json_set(json, '$.host.motto', 'x') WHERE resource = 'roster'";
  mirror.db.prepare(`${set} AND json_extract(json, '$.host.id') = ?`).run(brand.hostId);
  mirror.db.close();
  const { hint, state } = await doctorOf(brand, "forgotten");
  expect([state, hint]).toEqual([
    "failed",
    expect.stringContaining(`brandapi forget --host ${brand.hostId}`),
  ]);
  await brand.run(`forget --host ${brand.hostId} --yes`);
  expect((await doctorOf(brand, "forgotten")).state).toBe("ok");
});

test("forget redacts every object that has the host's ID, including objects in undocumented records", async () => {
  const brand = await brandWithHost();
  const add = `INSERT INTO records (resource, key, json, since_at) VALUES ('gifts', ?, json(?), '2026-11-21')`;
  const gift = { id: "x", title: "a mug", host: "ada", host_id: brand.hostId, host_name: `${secret}-g` };
  const stranger = { id: "y", host_id: "h-77", host_username: "only.here" };
  const mirror = await openMirror(brand.db);
  mirror.db.prepare(add).run("x", JSON.stringify(gift));
  mirror.db.prepare(add).run("y", JSON.stringify(stranger));
  mirror.db.close();
  expect((await brand.run(`forget --host ${brand.hostId} --yes`)).code).toBe(0);
  expect(brand.sql("SELECT json FROM records WHERE key = 'x'")).toEqual([
    { json: JSON.stringify({ id: "x", title: "a mug", host: "ada", host_id: brand.hostId }) },
  ]);
  expect((await brand.run("forget --host only.here --yes")).out).toContain("gifts 1");
  expect(countInFiles(brand, secret)).toBe(0);
});

test("forget never suggests a similar host", async () => {
  const brand = await brandWithHost();
  const unknown = await brand.run(`forget --host ${secret}-u22 --yes`);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("Unknown host")]);
  expect(unknown.err).not.toContain("did you mean");
  const nobody = await brand.run("forget --host qqqqqqqqqqqqqqqqq --yes");
  expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining("Unknown host")]);
  expect(nobody.err).toContain("SELECT * FROM hosts");
});

test("forget asks for confirmation before it erases anything", async () => {
  const brand = await brandWithHost();
  const count = countInFiles(brand, secret);
  const deaf = await brand.run(`forget --host ${brand.hostId}`);
  expect([deaf.code, deaf.err]).toEqual([2, expect.stringContaining("(add `--yes` to skip this question)")]);
  expect(deaf.err).toMatch(/No host was forgotten\.\n {2}hint: .*`--yes`/);
  const tty = { stdin: true, stderr: true };
  expect((await brand.run(`forget --host ${brand.hostId}`, { tty, stdin: "n\n" })).code).toBe(2);
  expect(countInFiles(brand, secret)).toBe(count);
  expect((await brand.run(`forget --host ${brand.hostId}`, { tty, stdin: "y\n" })).code).toBe(0);
  expect(countInFiles(brand, secret)).toBe(0);
});

test("forget accepts the first 8 characters of a host's ID, and shows the host's handle and name", async () => {
  const brand = await brandWithHost();
  const prefix = brand.hostId.slice(0, 8);
  const tty = { stdin: true, stderr: true };
  const prompt = await brand.run(`forget --host ${prefix}`, { tty, stdin: "n\n" });
  expect(prompt.err).toContain(`Forget @${secret}-u2 (${secret}-f2 ${secret}-l2, also @`);
  expect(prompt.err).toContain(`@${secret}-u1`);
  expect(prompt.err).toContain(`, ID ${brand.hostId}) permanently`);
  const count = countInFiles(brand, secret);
  for (const short of [brand.hostId.slice(0, 7), ""]) {
    const refused = await brand.run(["forget", "--host", short, "--yes"]);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining("at least 8 characters of the ID"),
    ]);
  }
  expect(countInFiles(brand, secret)).toBe(count);
  const done = await brand.run(`forget --host ${prefix.toUpperCase()} --yes`);
  expect([done.code, done.out]).toEqual([0, expect.stringContaining(`Forgot the host ${brand.hostId}`)]);
  // For a forgotten host's handle, the error must not suggest a different host.
  const again = await brand.run(`forget --host ${secret}-u2 --yes`);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("forgotten hosts have no handle")]);
  expect(again.err).not.toContain("did you mean");
});

test("forget rejects arguments that match more than one host", async () => {
  const brand = await brandWithHost();
  const twin = `${brand.hostId.slice(0, 12)}${brand.hostId.slice(12).replace(/[0-9a-f]/g, "0")}`;
  brand.order({
    host: { id: twin, username: "twin", first_name: null, last_name: null, profile_photo: null },
  });
  brand.pass(day);
  await brand.run("sync orders");
  const count = countInFiles(brand, secret);
  const both = await brand.run(`forget --host ${brand.hostId.slice(0, 10)} --yes`);
  expect([both.code, both.err]).toEqual([2, expect.stringContaining("matches 2 hosts")]);
  const twice = await brand.run(`forget --host ${brand.hostId} --host ${twin} --yes`);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining("`--host` was given twice.")]);
  expect(countInFiles(brand, secret)).toBe(count);
  expect((await brand.run(`forget --host ${twin.slice(0, 14)} --yes`)).code).toBe(0);
});

test("backup --restore omits the data of a host that was forgotten after the backup", async () => {
  const brand = await brandWithHost();
  const { path } = JSON.parse((await brand.run("backup --json")).out);
  expect((await brand.run(`forget --host ${brand.hostId} --yes`)).out).toContain(`Last backup: ${path}`);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  expect(countInFiles(brand, secret)).toBe(0);
});

test("if forget could not rewrite the mirror's file because another program was reading it, the next sync rewrites the file", async () => {
  const brand = await brandWithHost();
  const other = new Sqlite(brand.db);
  other.exec("BEGIN");
  other.prepare("SELECT count(*) FROM orders").get();
  const ran = await brand.run(`forget --host ${brand.hostId} --yes`);
  expect([ran.code, (await doctorOf(brand, "forgotten")).state]).toEqual([9, "failed"]);
  other.close();
  expect((await brand.run("sync roster")).err).not.toContain("omits");
  expect((await doctorOf(brand, "forgotten")).state).toBe("ok");
  expect(countInFiles(brand, secret)).toBe(0);
});

test("forget changes nothing and releases the lock when it fails", async () => {
  const brand = await brandWithHost();
  const mirror = await openMirror(brand.db);
  for (const when of ["UPDATE ON records", "INSERT ON sync_runs WHEN new.resource = 'forget'"]) {
    mirror.db.exec(`CREATE TRIGGER full BEFORE ${when} BEGIN SELECT raise(ABORT, 'full'); END`);
    expect((await brand.run(`forget --host ${brand.hostId} --yes`)).code, when).toBe(1);
    expect(brand.sql("SELECT * FROM sync_runs WHERE resource = 'forget'")).toEqual([]);
    expect(countInFiles(brand, secret), when).toBeGreaterThan(20);
    mirror.db.exec("DROP TRIGGER full");
  }
  mirror.db.close();
  expect((await brand.run(`forget --host ${brand.hostId} --yes`)).code).toBe(0);
});

async function logIn(brand: TestBrand, flags: string) {
  const run = await brand.run(`login --key-stdin ${flags}`, { stdin: brand.key, env: { BRANDAPI_KEY: "" } });
  expect(run.code).toBe(0);
}

test("sync removes an omitted field from stored data and does not store it again", async () => {
  const brand = await brandWithHost();
  await logIn(brand, "--omit host.last_name,host.name,roster:host.socials,title");
  const before = [sums(brand), await verdicts(brand)];
  const status = await brand.run("status");
  expect(status.out).toContain(
    "Omitted: host.last_name, host.name, roster:host.socials, title (from the next sync on)",
  );
  const sync = await brand.run("sync roster");
  expect(sync.err).toMatch(
    /^omits host\.last_name, host\.name, roster:host\.socials, title: [\d,]+ records rewritten$/m,
  );
  expect(sync.err).toMatch(/roster: \d+ read, 0 new, 0 changed/);
  expect((await brand.run("status")).out).not.toContain("from the next sync on");
  for (const gone of ["l1", "l2", "t1", "t2"]) expect(countInFiles(brand, `${secret}-${gone}`), gone).toBe(0);
  expect(countInFiles(brand, `${secret}-f2`)).toBeGreaterThan(0);
  expect(brand.sql("SELECT count(host_socials) AS n FROM roster")).toEqual([{ n: 0 }]);
  expect(brand.sql("SELECT count(host_socials) > 0 AS others FROM recommendations")).toEqual([{ others: 1 }]);
  expect([sums(brand), await verdicts(brand)]).toEqual(before);

  // `login --omit` replaces the list of omitted fields. Fields that are no longer in the list are stored when they
  // are next read.
  expect((await brand.run("login --omit host.first_name")).err).toContain("Stored in ");
  const other = await brand.run("sync roster");
  expect(other.err).toMatch(/^omits host\.first_name: \d+ records rewritten$/m);
  expect(other.err).toMatch(/warning: .*omitted host\.last_name.*`default` does not.*`brandapi sync --full`/);
  expect(countInFiles(brand, `${secret}-f2`)).toBe(0);
  expect(countInFiles(brand, `${secret}-l2`)).toBeGreaterThan(0);
  expect((await brand.run("sync roster")).err).not.toContain("omits");
});

test("views do not show display names from content records if first or last names are omitted", async () => {
  const brand = makeBrand({ history: 20, listLimit: 6 });
  const [item] = brand.data.content.filter(({ host }) => host);
  const host = { ...item?.host, id: "named-here-only", username: null, name: `${secret} Lovelace` };
  brand.data.content = brand.data.content.map((one) => (one === item ? { ...one, host } : one)) as never;
  await brand.run("sync roster content orders");
  const labels = () => brand.sql("SELECT host_label FROM content_by_host WHERE host_id = 'named-here-only'");
  expect(labels()).toEqual([{ host_label: `${secret} Lovelace` }]);
  await logIn(brand, "--omit host.last_name,host.first_name");
  await brand.run("sync roster");
  expect(labels()).toEqual([{ host_label: "named-he" }]);
  await brand.run("sync content --full");
  expect(labels()).toEqual([{ host_label: "named-he" }]);
  expect(brand.sql("SELECT 1 FROM host_names WHERE name IS NOT NULL")).toEqual([]);

  // Earlier versions of the program stored this name.
  const mirror = await openMirror(brand.db);
  mirror.db.exec(
    `UPDATE host_names SET name = 'Ada' WHERE host_id = 'named-here-only';
     UPDATE mirror_info SET value = 'filled' WHERE name = 'host_names'`,
  );
  mirror.db.close();
  await brand.run("tables");
  expect(labels()).toEqual([{ host_label: "named-he" }]);
});

test("login warns that display names in content records still reveal the omitted names", async () => {
  const login = (omit: string) => {
    const brand = makeBrand();
    return brand.run(`login --key-stdin --omit ${omit}`, { stdin: brand.key, env: { BRANDAPI_KEY: "" } });
  };
  expect((await login("host.last_name")).err).toContain("`content:host.name`");
  expect((await login("host.last_name,host.name")).err).not.toContain("content:host.name");
  expect((await login("title")).err).not.toContain("content:host.name");
});

test("brandapi changes lists no changes for a field that was omitted and is now stored again", async () => {
  const brand = await brandWithHost();
  await logIn(brand, "--omit host.last_name,host.socials");
  await brand.run("sync");
  const changes = () => brand.sql("SELECT kind, field, new FROM changes WHERE resource = 'roster'");
  const before = changes();
  brand.pass(day);
  await logIn(brand, "--omit host.socials");
  rename(brand, brand.hostId, { first_name: "Grace", last_name: "Hopper" });
  const sync = await brand.run("sync --full");
  expect(sync.err).toContain("The mirror has omitted host.last_name so far");
  expect(sync.err).not.toContain("`brandapi sync --full`");
  expect(brand.sql("SELECT count(*) > 0 AS restored FROM roster WHERE host_last_name IS NOT NULL")).toEqual([
    { restored: 1 },
  ]);
  expect(changes()).toEqual([...before, { kind: "changed", field: "host_first_name", new: "Grace" }]);
  brand.pass(day);
  rename(brand, brand.hostId, { last_name: "Murray" });
  await brand.run("sync roster");
  expect(changes().at(-1)).toEqual({ kind: "changed", field: "host_last_name", new: "Murray" });
});

test("sync does not report a field as no longer omitted if a more general rule now omits the field", async () => {
  const brand = makeBrand({ history: 30, listLimit: 10 });
  await logIn(brand, "--omit host.last_name,roster:host.first_name");
  await brand.run("sync roster");
  await logIn(brand, "--omit last_name,host.first_name");
  const sync = await brand.run("sync roster");
  expect(sync.err).toContain("omits last_name, host.first_name\n");
  expect(sync.err).not.toContain("so far");
});

test("sync warns if another profile stores fields that this mirror omits", async () => {
  const brand = makeBrand({ history: 30, listLimit: 10 });
  await logIn(brand, "--omit host.last_name");
  await brand.run("sync roster");
  const env = { BRANDAPI_PROFILE: "other", BRANDAPI_DB: brand.db };
  const sync = await brand.run("sync roster --quiet", { env });
  expect(sync.code).toBe(0);
  expect(sync.err).toMatch(
    /omitted host\.last_name so far.*`other` does not.*`brandapi sync --full` to store this field/,
  );
});

test("backup --restore does not restore fields that were omitted after the backup", async () => {
  const brand = await brandWithHost();
  const { path } = JSON.parse((await brand.run("backup --json")).out);
  await logIn(brand, "--omit host.last_name,host.name");
  await brand.run("sync roster");
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  expect(countInFiles(brand, `${secret}-l2`)).toBe(0);

  // If the current mirror has no list of omitted fields, the backup's list applies until the next sync. That sync
  // reports the fields that are no longer omitted.
  const copy = JSON.parse((await brand.run("backup --json")).out).path;
  await logIn(brand, "--omit=");
  await brand.run("sync roster");
  await brand.run(`forget --host ${brand.hostId} --yes`);
  expect((await brand.run(["backup", "--restore", copy])).code).toBe(0);
  expect((await brand.run("sync roster")).err).toMatch(/^omits nothing\n[\s\S]*Run `brandapi sync --full`/m);
});

test("login --omit accepts any field of an undocumented resource", async () => {
  const brand = await brandWithHost();
  await logIn(brand, "--omit gifts:title,surveys:questions.text");
  expect((await brand.run("status")).out).toContain("Omitted: gifts:title, surveys:questions.text");
});

test.each([
  ["host.last_nmae", "did you mean `host.last_name`?"],
  ["roster:host.motto", "did you mean"],
  ["rooster:host.socials", "did you mean `roster:host.socials`?"],
  ["orders:id", "Unknown field, or a field that a sync needs"],
  ["order_date", "Unknown field, or a field that a sync needs"],
  ["commission_rate", "Unknown field, or a field that a sync needs"],
  ["host.id", "Unknown field, or a field that a sync needs"],
  ["currency", "Unknown field, or a field that a sync needs: `currency`."],
  ["a b;c", "Unknown field, or a field that a sync needs"],
  ["a b;c", "the name of an API field"],
  ["opportunities:status", "Unknown field, or a field that a sync needs"],
  ["assignments.brand_payment_state", "Unknown field, or a field that a sync needs"],
  ["surveys:id", "Unknown field, or a field that a sync needs"],
  ["gifts:", "Unknown field, or a field that a sync needs"],
  ["gifts:orders:currency", "Unknown field, or a field that a sync needs"],
  ["host", "did you mean `host.username`?"],
])("login --omit rejects %j with exit code 2 and the message %j", async (omit, hint) => {
  const { code, err } = await makeBrand().run(["login", "--key-stdin", "--omit", omit], { stdin: "k" });
  expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
});
