import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { abbreviate, abbreviateArguments, hideKeys, refuseKeys } from "../../src/util/redact-keys.js";
import { makeHome } from "../support/home.js";

test("hideKeys replaces an API key in a string, regardless of case", () => {
  const keys = new Set(["brk_Secret.1"]);
  expect(hideKeys("https://brk_secret.1.example and BRK_SECRET.1", keys)).toBe(
    "https://[key hidden].example and [key hidden]",
  );
  expect(hideKeys("brk_Secretx1", keys)).toBe("brk_Secretx1");
});

test("hideKeys does not replace an API key of fewer than six characters, because it could be part of a word", () => {
  expect(hideKeys("orders", new Set(["order"]))).toBe("orders");
  expect(hideKeys("orders", new Set(["orders"]))).toBe("[key hidden]");
});

test("hideKeys replaces API keys that contain special characters of regular expressions", () => {
  const key = "\\^$.*+?()[]{}|/-brk";
  expect(hideKeys(`a ${key} b`, new Set([key, "brk_second"]))).toBe("a [key hidden] b");
});

test("a command is rejected if an argument or a BRANDAPI_… variable other than BRANDAPI_KEY contains an API key", () => {
  const keys = new Set(["brk_secret", "brk_second"]);
  const refuse = (argv: string[], env: Record<string, string>) => () => refuseKeys(argv, env, keys);
  const unrelated = { BRANDAPI_KEY: "brk_secret", TOKEN: "brk_secret", BRANDAPI_DB: "brk_other" };
  expect(refuse(["sync", "orders"], unrelated)).not.toThrow();
  expect(refuse(["sync", "--db=BRK_SECRET.sqlite"], {})).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(refuse(["sync", "brk_second"], {})).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(refuse([], { BRANDAPI_DB: "brk_secret.sqlite" })).toThrow(
    expect.objectContaining({ exitCode: 3, message: "BRANDAPI_DB contains the API key." }),
  );
});

test("abbreviate shortens text of more than 40 characters", () => {
  expect(abbreviate("k".repeat(40))).toBe("k".repeat(40));
  expect(abbreviate("k".repeat(41))).toBe("kkkkkkkk… (41 characters)");
});

test.each([
  ["an argument", (long: string) => long],
  ["the value after an equals sign", (long: string) => `--flag=${long}`],
  ["an item of a list with commas", (long: string) => `a,${long}`],
  ["an item of a list with spaces", (long: string) => `a ${long}`],
  ["a value that contains an equals sign", (long: string) => `--where=id=${long}`],
])("an error message abbreviates %s if it is longer than 40 characters", (_, argument) => {
  const long = "k".repeat(41);
  expect(abbreviateArguments(`Unknown: \`${long}\``, [argument(long)])).toBe(
    "Unknown: `kkkkkkkk… (41 characters)`",
  );
});

test("an error message abbreviates a value of several words if it is longer than 40 characters", () => {
  const words = "correct horse battery staple, and so on and on";
  expect(abbreviateArguments(`Not a time: ${words}`, [`--until=${words}`])).toBe(
    "Not a time: correct … (46 characters)",
  );
});

test("an error message abbreviates the longer of two overlapping arguments", () => {
  const long = "k".repeat(41);
  expect(abbreviateArguments(`x ${long}l`, [long, `${long}l`])).toBe("x kkkkkkkk… (42 characters)");
});

test("an error message abbreviates a long path unless it is the absolute path of an existing file", () => {
  const long = "k".repeat(41);
  const path = join(makeHome(), long);
  expect(abbreviateArguments(`x ${path}`, [path])).not.toContain(long);
  writeFileSync(path, "");
  expect(abbreviateArguments(`x ${path}`, [path])).toBe(`x ${path}`);
  const relativePath = relative(process.cwd(), path);
  expect(abbreviateArguments(`x ${relativePath}`, [relativePath])).not.toContain(long);
});
