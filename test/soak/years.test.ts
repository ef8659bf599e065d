import { expect, test } from "vitest";
import { playYears } from "./years.js";

test("130 nights with an outage of three and a key that expires: every night after them has everything", async () => {
  const { nights, equalAtEnd, bytes, freshBytes } = await playYears({
    nights: 60,
    seed: 3,
    orders: 400,
    only: ["orders"],
    say: () => {},
  });
  expect(equalAtEnd).toBe(true);
  expect(bytes / freshBytes).toBeLessThan(4);
  const quiet = nights.filter(({ trouble }) => trouble === "none");
  expect(quiet.filter(({ verified }) => !verified)).toEqual([]);
  expect(quiet.filter(({ orders, equal }) => equal < orders - 3)).toEqual([]);
  expect(quiet.filter(({ tooMany }) => tooMany > 0)).toEqual([]);
  for (const { trouble, verified } of nights) if (trouble !== "none") expect(verified).toBe(false);
}, 120_000);
