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
  ["with reserved characters", "a b/é?#", "a%20b%2F%C3%A9%3F%23"],
  ["of three dots", "...", "..."],
  ["that begins with a dot", ".a", ".a"],
  ["of 4,000 characters", "x".repeat(4_000), "x".repeat(4_000)],
])("an ID %s can be part of a URL's path", (_, id, segment) => {
  expect(encodePathSegment(id)).toBe(segment);
});

test.each([
  ["of 4,001 characters", "x".repeat(4_001)],
  ["of more than 4,000 encoded characters", "é".repeat(667)],
  ["of zero characters", ""],
  ["of one dot", "."],
  ["of two dots", ".."],
  ["with half of a surrogate pair", "\ud800"],
])("an ID %s cannot be part of a URL's path", (_, id) => {
  expect(encodePathSegment(id)).toBeNull();
});
