import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { noon } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

describe("demo run twice in the same folder", () => {
  const home = makeHome();
  const file = (name: string) => join(home, "my demo", name);
  const files = ["orders.csv", "orders.ndjson", "roster.csv", "changes.csv", "report.html"];
  const opened: string[] = [];
  const options = {
    home,
    tty: { stdout: true, stderr: true },
    clock: { now: () => noon },
    // The demo ignores the user's settings.
    env: { BRANDAPI_PROFILE: "not a name", BRANDAPI_CONFIG_DIR: "/dev/null", BRANDAPI_DB: "/dev/null" },
    openInBrowser: (path: string) => void opened.push(path),
  };
  const demo = (...flags: string[]) => brandapi(["demo", "--out", "my demo", ...flags], options);
  let first: Awaited<ReturnType<typeof brandapi>>;
  let seconds: number;

  function select(sql: string): unknown[] {
    const mirror = new Sqlite(file("demo.sqlite"), { readonly: true });
    const values = mirror.prepare(sql).pluck().all();
    mirror.close();
    return values;
  }

  beforeAll(async () => {
    mkdirSync(file(""));
    const startedAt = performance.now();
    first = await demo("--orders", "300", "--no-color", "--no-progress");
    seconds = (performance.now() - startedAt) / 1_000;
  });

  test("demo prints an introduction, and then each command followed by its output", () => {
    expect(first.code, first.err).toBe(0);
    const [introduction = "", ...commands] = first.out.split("\n$ brandapi ");
    expect(introduction).toMatch(/^brandapi copies .+You get:\n- tables to query/s);
    expect(commands.map((text) => text.split("\n")[0])).toEqual([
      "sync",
      "sync",
      "changes orders --limit 8",
      "verify orders",
      expect.stringMatching(/^query "SELECT month, .*"$/),
      'export orders -o "my demo/orders.csv"',
      'export orders -o "my demo/orders.ndjson"',
      'export roster -o "my demo/roster.csv" --excel',
      'export changes -o "my demo/changes.csv"',
      "status",
      'report --open -o "my demo/report.html"',
    ]);
    for (const control of ["\u001b", "\r"]) expect(first.out + first.err).not.toContain(control);
    const [, , changes = "", , , , , , , status = ""] = commands;
    expect(changes).toMatch(/^#\S+ +refund_amount +0 +→ /m);
    expect(status).toMatch(/^Mirror of Fjell & Fern, .*^surveys +9 /ms);
    expect(first.err).toMatch(/^surveys: 9 surveys and 9 results read/m);
    expect(first.out).not.toMatch(/^'\d/m);
  });

  test("demo syncs a simulated brand twice, three weeks apart, exports files and opens the report", () => {
    const times = "SELECT DISTINCT started_at FROM sync_runs ORDER BY 1";
    expect(select(times)).toEqual(["2026-10-31T12:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
    for (const name of files) expect(existsSync(file(name)), name).toBe(true);
    expect(readFileSync(file("roster.csv"), "utf8")).toMatch(/^\uFEFF/);
    expect(opened).toEqual([file("report.html")]);
    expect(first.out).toContain("`brandapi tables --db 'my demo/demo.sqlite'`");
    const printed = Number(/^Done in (\S+) s\. /m.exec(first.out)?.[1]);
    expect([printed > seconds / 5, printed < seconds + 1]).toEqual([true, true]);
  });

  test("demo --quiet replaces an earlier demo that used a different seed, and prints only warnings", async () => {
    writeFileSync(file("notes.txt"), "mine");
    for (const name of files) rmSync(file(name));
    const brandId = () => select("SELECT value FROM mirror_info WHERE name = 'brand_id'");
    const before = brandId();
    const { code, out, err } = await demo("--quiet", "--orders", "50", "--seed", "2");
    expect({ code, out }, err).toEqual({ code: 0, out: "" });
    expect(err.split("\n").filter((line) => !line.startsWith("warning: "))).toEqual([""]);
    for (const name of files) expect(existsSync(file(name)), name).toBe(true);
    expect(existsSync(file("demo.sqlite-wal"))).toBe(false);
    expect(readFileSync(file("notes.txt"), "utf8")).toBe("mine");
    expect(Number(select("SELECT count(*) FROM orders"))).toBeLessThan(100);
    expect(brandId()).not.toEqual(before);
    expect(opened).toHaveLength(1);
  });
});

test("demo rejects a folder with files that an earlier demo did not create", async () => {
  const home = makeHome();
  const path = join(home, "brandapi-demo", "orders.csv");
  mkdirSync(join(home, "brandapi-demo"));
  writeFileSync(path, "mine");
  const { code, err } = await brandapi("demo --quiet --orders 50", { home });
  expect([code, err]).toEqual([2, expect.stringContaining("contains files that the demo did not create")]);
  expect(readFileSync(path, "utf8")).toBe("mine");
});
