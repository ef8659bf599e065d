import { expect, test } from "vitest";
import { scanCommandLine } from "../../src/cli/command-line.js";
import {
  chooseResources,
  createCountParser,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
  refuseEmptyPathOrTime,
} from "../../src/cli/flags.js";
import { resources } from "../../src/resources/registry.js";
import { formatInstant } from "../../src/util/timestamps.js";

const now = Date.parse("2026-11-21T12:00:00.000Z");

test("the command, --json, --verbose, --profile, --db and --key-file are recognized in any position on an invalid command line", () => {
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

test("refuseEmptyPathOrTime makes an option reject an empty value without affecting how other values are parsed", () => {
  const option = parsedOption("--at <time>", "a time", (text) => text.length);
  refuseEmptyPathOrTime(option);
  expect(option.parseArg?.("2026", undefined)).toBe(4);
  expect(() => option.parseArg?.("", undefined)).toThrow("`--at` is empty");
});

test("a comma-separated list can contain spaces and empty items", () => {
  expect(parseList(" a, b,,c ", "--host")).toEqual(["a", "b", "c"]);
});

test("a list option that is passed several times combines its values", () => {
  expect(parseList("c", "--host", ["a", "b"])).toEqual(["a", "b", "c"]);
});

test("a numeric option accepts only digits, and rejects numbers above its maximum", () => {
  expect(createCountParser(65_535)("65535", "--port")).toBe(65_535);
  expect(() => createCountParser(65_535)("65536", "--port")).toThrow("`--port`");
  expect(parseCount("999999999", "--limit")).toBe(999_999_999);
  for (const text of ["1000000000", "1e3", "-1", " 1"])
    expect(() => parseCount(text, "--limit"), text).toThrow("`--limit`");
});

test.each([
  ["--since 2026-10-01 --until 2026-10-01", "2026-10-01T00:00:00.000Z", "2026-10-01T23:59:59.999Z"],
  [
    "--since 2026-10-01T12:00:00Z --until 2026-10-01T12:00:00Z",
    "2026-10-01T12:00:00.000Z",
    "2026-10-01T12:00:00.000Z",
  ],
  ["--since 2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000Z", "the end of the data"],
  ["--until 9999-12-30", "the start of the data", "9999-12-30T23:59:59.999Z"],
  ["--until 9999-12-31T00:00:00Z", "the start of the data", "the end of the data"],
])("%s selects the range from %s to %s", (options, from, to) => {
  const [since, until] = [/--since (\S+)/, /--until (\S+)/].map((option) => option.exec(options)?.[1]);
  const range = parseRange({ since, until }, now);
  expect(range.since === undefined ? "the start of the data" : formatInstant(range.since)).toBe(from);
  expect(range.until === undefined ? "the end of the data" : formatInstant(range.until)).toBe(to);
});

test("a command processes the named resources in a fixed order, or all resources if none is named", () => {
  const namesOf = (...names: string[]) => chooseResources(names).resources.map(({ name }) => name);
  expect(namesOf("roster", "orders")).toEqual(["orders", "roster"]);
  expect(namesOf()).toEqual(resources.map(({ name }) => name));
  expect([chooseResources(["orders"]).areNamed, chooseResources([]).areNamed]).toEqual([true, false]);
});
