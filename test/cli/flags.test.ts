import { expect, test } from "vitest";
import {
  chooseResources,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
  parseUpTo,
  refuseEmptyPathOrTime,
  scanCommandLine,
} from "../../src/cli/flags.js";
import { resources } from "../../src/resources/registry.js";
import { formatInstant } from "../../src/util/timestamps.js";

const now = Date.parse("2026-11-21T12:00:00.000Z");

test("scanCommandLine reads the flags that error messages depend on, wherever they are", () => {
  const argv = "--profile acme sync orders --db=m.sqlite --key-file k --json --verbose --unknown".split(" ");
  expect(scanCommandLine(argv)).toEqual({
    argv,
    command: "sync",
    json: true,
    verbose: true,
    profile: "acme",
    db: "m.sqlite",
    keyFile: "k",
  });
  expect(scanCommandLine(["--profile"])).toMatchObject({
    command: undefined,
    json: false,
    profile: undefined,
  });
});

test("an option that parses its value keeps its parser, and rejects an empty value", () => {
  const option = parsedOption("--at <time>", "a time", (text) => text.length);
  refuseEmptyPathOrTime(option);
  expect(option.parseArg?.("2026", undefined)).toBe(4);
  expect(() => option.parseArg?.("", undefined)).toThrow("`--at` is empty");
});

test("parseList accepts spaces and empty items, and concatenates the lists of a repeated option", () => {
  expect(parseList(" a, b,,c ", "--host")).toEqual(["a", "b", "c"]);
  expect(parseList("c", "--host", ["a", "b"])).toEqual(["a", "b", "c"]);
});

test("a number consists of digits, and may be as large as its limit", () => {
  expect(parseUpTo(65_535)("65535", "--port")).toBe(65_535);
  expect(() => parseUpTo(65_535)("65536", "--port")).toThrow("`--port`");
  expect(parseCount("999999999", "--limit")).toBe(999_999_999);
  for (const text of ["1000000000", "1e3", "-1", " 1"])
    expect(() => parseCount(text, "--limit"), text).toThrow("`--limit`");
});

test.each([
  ["2026-10-01", "2026-10-01", "2026-10-01T00:00:00.000Z", "2026-10-01T23:59:59.999Z"],
  ["2026-10-01T12:00:00Z", "2026-10-01T12:00:00Z", "2026-10-01T12:00:00.000Z", "2026-10-01T12:00:00.000Z"],
  ["2026-11-21T12:00:00Z", undefined, "2026-11-21T12:00:00.000Z", undefined],
  [undefined, "9999-12-30", undefined, "9999-12-30T23:59:59.999Z"],
  [undefined, "9999-12-31T00:00:00Z", undefined, undefined],
])("parseRange parses --since %s --until %s as the range from %s to %s", (since, until, from, to) => {
  const range = parseRange({ since, until }, now);
  const format = (ms: number | undefined) => (ms === undefined ? undefined : formatInstant(ms));
  expect([format(range.since), format(range.until)]).toEqual([from, to]);
});

test("chooseResources returns the named resources in registry order, or all resources", () => {
  const namesOf = (...names: string[]) => chooseResources(names).resources.map(({ name }) => name);
  expect(namesOf("roster", "orders")).toEqual(["orders", "roster"]);
  expect(namesOf()).toEqual(resources.map(({ name }) => name));
  expect([chooseResources(["orders"]).areNamed, chooseResources([]).areNamed]).toEqual([true, false]);
});
