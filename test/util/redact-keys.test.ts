import { expect, test } from "vitest";
import { hideKeys } from "../../src/util/redact-keys.js";

test("hideKeys replaces a key in any combination of upper and lower case", () => {
  const keys = new Set(["brk_Secret.1"]);
  expect(hideKeys("https://brk_secret.1.example and BRK_SECRET.1", keys)).toBe(
    "https://[key hidden].example and [key hidden]",
  );
  expect(hideKeys("brk_Secretx1", keys)).toBe("brk_Secretx1");
});

test("hideKeys ignores keys of fewer than six characters, which could be part of a word", () => {
  expect(hideKeys("orders", new Set(["order"]))).toBe("orders");
  expect(hideKeys("orders", new Set(["orders"]))).toBe("[key hidden]");
});
