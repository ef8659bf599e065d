import { expect, test } from "vitest";
import { encodePathSegment, isLoopback } from "../../src/util/urls.js";

test.each(["localhost", "[::1]", "127.0.0.1", "127.255.1.254"])("%s is a loopback host", (hostname) => {
  expect(isLoopback(hostname)).toBe(true);
});

test.each([
  "localhost.example",
  "a.localhost",
  "[::2]",
  "0.0.0.0",
  "128.0.0.1",
  "127.0.0",
  "127.0.0.1.example",
  "1127.0.0.1",
])("%s is not a loopback host", (hostname) => {
  expect(isLoopback(hostname)).toBe(false);
});

test.each([
  ["a b/é?#", "a%20b%2F%C3%A9%3F%23"],
  ["...", "..."],
  [".a", ".a"],
  ["x".repeat(4_000), "x".repeat(4_000)],
  ["x".repeat(4_001), null],
  ["é".repeat(667), null],
  ["", null],
  [".", null],
  ["..", null],
  ["\ud800", null],
])("encodePathSegment encodes an ID, or returns null if it cannot be part of a path (%#)", (id, segment) => {
  expect(encodePathSegment(id)).toBe(segment);
});
