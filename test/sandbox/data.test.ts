import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { naturalPace, simulateActivity } from "../../src/sandbox/activity.js";
import { createBrand } from "../../src/sandbox/brand.js";
import { fileBytes } from "../../src/sandbox/file-host.js";
import { day, listNames, noon } from "../support/records.js";
import { ask } from "./support.js";

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);
}

/**
 * Update the expected digests only after an intentional change to the data, because the documentation contains examples
 * with some of the seeds.
 */
test("a sandbox seed creates the same records, totals and events in every version of the program", () => {
  const brand = createBrand({ seed: 1, orders: 500, now: noon });
  const digests: Record<string, string> = { keys: digest(brand.keys), results: digest(brand.results) };
  for (const list of listNames) digests[list] = digest(brand[list]);
  const totals = "/analytics/clicks?start_date=2026-09-01&end_date=2026-11-21T10:00:00Z&limit=100";
  digests.file = digest([...fileBytes(brand.content[0]?.id ?? "", 0, 1_000)]);
  digests.clicks = digest(ask(totals, { brand }).one);
  digests.hosts = digest(ask("/analytics/hosts?per_page=100", { brand }).data);
  simulateActivity(brand, noon, noon + 30 * day, naturalPace(500));
  digests.afterThirtyDays = digest(brand);
  simulateActivity(brand, noon + 30 * day, noon + 31 * day, { ordersPerHour: 20, speed: 1 });
  digests.afterBusyDay = digest(brand);
  expect(digests).toEqual({
    keys: "9109562b4709",
    orders: "3e076668c210",
    roster: "225373b7306d",
    recommendations: "3af1be73d20e",
    opportunities: "b54f1170a332",
    content: "0bf35ef6e25f",
    gifts: "419f23d2fdcb",
    codes: "b60ef34f2fad",
    surveys: "e7c3f59053d4",
    results: "cb81b758c895",
    file: "9bd064f16ec2",
    clicks: "eb88d53bdcca",
    hosts: "084f3cd0da90",
    afterThirtyDays: "e521b6801769",
    afterBusyDay: "6742527a1cdc",
  });
});
