import { describe, expect, it } from "vitest";
import { dayMs, formatInstant } from "../../src/lib/times.js";
import { readClosing } from "../../src/query/closing.js";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import { openState } from "../../src/state/index.js";
import { mirrorForTest } from "../records/mirror.js";

const now = Date.parse("2026-11-21T00:00:00Z");
const used = { windowMs: 30 * dayMs, audit: 5 };
const coverage = [{ from: Number.NEGATIVE_INFINITY, to: now, readAt: now - 9 * dayMs, runId: 1 }];

describe("how long a change to an old record can stay unseen", () => {
  it("is counted in nights of the audit, from the records behind the window", async () => {
    const mirror = await mirrorForTest();
    openState(mirror, "orders").remember(used);
    const add = mirror.db.prepare(
      "INSERT INTO records (resource, key, json, dated_at, since_at) VALUES ('orders', ?, '{}', ?, '')",
    );
    for (let index = 0; index < 1_000; index += 1) add.run(`old ${index}`, now - 100 * dayMs);
    for (let index = 0; index < 500; index += 1) add.run(`new ${index}`, now - 5 * dayMs);
    expect(readClosing(mirror, orders, coverage, now)).toEqual({
      oldest_read_at: formatInstant(now - 9 * dayMs),
      reread_within_days: 4,
    });
  });

  it("goes by the window and the audit that the runs really use", async () => {
    const mirror = await mirrorForTest();
    const add = mirror.db.prepare(
      "INSERT INTO records (resource, key, json, dated_at, since_at) VALUES ('orders', ?, '{}', ?, '')",
    );
    for (let index = 0; index < 1_000; index += 1) add.run(`${index}`, now - (index % 40) * dayMs);
    const nights = (windowMs: number, audit: number) => {
      openState(mirror, "orders").remember({ windowMs, audit });
      return readClosing(mirror, orders, coverage, now)?.reread_within_days;
    };
    expect(nights(30 * dayMs, 5)).toBe(2);
    expect(nights(5 * dayMs, 5)).toBe(3);
    expect(nights(5 * dayMs, 1)).toBe(10);
    expect(nights(5 * dayMs, 0)).toBeNull();
    expect(nights(90 * dayMs, 0)).toBe(1);
  });

  it("says nothing of resources that are read whole", async () => {
    expect(readClosing(await mirrorForTest(), roster, coverage, now)).toBeNull();
  });
});
