import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";

const seeds = process.env.TEST_LONG ? [1, 2, 3, 4, 5] : [1];

test.each(seeds)(
  "demo --challenge changes records in the sandbox, and its syncs find each change by the predicted date (seed %d)",
  async (seed) => {
    const home = makeHome();
    const { code, err, out } = await brandapi(`demo --challenge --orders 800 --seed ${seed}`, { home });
    expect(code, err).toBe(0);
    const all = [...out.matchAll(/^(.+), (\S+) +(found|missed) +(found|not yet) +(.+)$/gm)];
    const [rows, later] = [all.slice(0, 7), all.slice(7)];
    expect(rows.map(([, what]) => what)).toEqual([
      "host left",
      "refunded",
      "partially refunded",
      "attributed late",
      "withdrawn",
      "cancelled",
      "commission raised",
    ]);
    expect(rows.map(([, , , byScript]) => byScript).filter((one) => one === "found")).toHaveLength(2);
    const mirror = new Sqlite(join(home, "brandapi-challenge", "demo.sqlite"), { readonly: true });
    const changed = mirror.prepare("SELECT min(seen_changed_at) FROM changes WHERE key = ?").pluck();
    const first = /After the sync on (\S+):/.exec(out)?.[1];
    for (const [, what, id, , brandapi, by = ""] of rows) {
      expect(out).toContain(`  ${what}, ${id}: ${by}\n`);
      const seen = String(changed.get(id)).slice(0, 10);
      expect(brandapi, what).toBe(seen === first ? "found" : "not yet");
      const announced = by.startsWith("not detected by any check")
        ? /re-read by (\S+)$/.exec(by)?.[1]
        : first;
      expect(seen <= (announced ?? ""), `${what}: ${by}, ${seen}`).toBe(true);
    }
    expect(later.at(-1)).toEqual(expect.arrayContaining(["commission raised", "missed", "found"]));
    expect(out).toMatch(
      /\(here: 800 orders in the API, 800 in brandapi-challenge\):\n\n.*\/orders\?.*\n.*SELECT count/,
    );
    mirror.close();
  },
);

test("demo --challenge exits with code 2 if no order is old enough for one of the changes", async () => {
  const { code, out, err } = await brandapi("demo --challenge --orders 3 --quiet", { home: makeHome() });
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("create more orders with `--orders`");
});
