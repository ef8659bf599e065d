import { expect, test } from "vitest";
import { counted } from "../../src/lib/counted.js";

test("one of something is said in the singular", () => {
  expect([0, 1, 2].map((count) => counted(count, "retry"))).toEqual(["0 retries", "1 retry", "2 retries"]);
  expect(counted(2, "day")).toBe("2 days");
  expect(counted(1_000, "record", (count) => `~${count}`)).toBe("~1000 records");
});
