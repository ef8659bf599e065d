import { expect, test } from "vitest";
import {
  displayWidth,
  escapeData,
  escapeLines,
  escapeText,
  pad,
  printJson,
  terminalWidth,
  truncate,
  truncateStart,
  wrap,
  wrapIndented,
  wrapLines,
} from "../../src/util/terminal.js";
import { testDeps } from "../support/program.js";
import fc, { anyText } from "../support/property.js";
import { visible } from "../support/visible.js";

const escapes = [
  ["\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
  ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
  ["\u009b2J", "\\u009b2J"],
  ["a\nb\r\tc", "a\\nb\\r\\tc"],
  ["\u0000", "\\u0000"],
  ["abc\u202egnp.exe", "abc\\u202egnp.exe"],
  ["\u2066x\u2069", "\\u2066x\\u2069"],
  ["pay\u200bpal", "pay\\u200bpal"],
  ["\ufeffa\u00adb", "\\ufeffa\\u00adb"],
  ["\u2028", "\\u2028"],
  ["\ud800x\udc00", "\\ud800x\\udc00"],
  ["\u{e0041}", "\\udb40\\udc41"],
  ["\u3164", "\\u3164"],
  ["\u200f\u061c", "\\u200f\\u061c"],
  ["a\ufff9b", "a\\ufff9b"],
] as const;

test.each(escapes.map(([text, escaped]) => [visible(text), visible(escaped), text, escaped]))(
  "in a message, characters that a terminal would interpret or hide are escaped: %s is printed as %s",
  (_, _title, text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
  },
);

test.each(
  ["Zoë Müller", "北京", "👩‍👩‍👧 ❤️ 👍🏽 🇳🇴 1️⃣", "می‌خواهم", "क्‍ष", "שלום", 'a\\b "c"'].map((text) => [
    visible(text),
    text,
  ]),
)("the text %s is printed unchanged in a message", (_, text) => {
  expect(escapeText(text)).toBe(text);
});

test("continuation lines of a message are indented, so they cannot imitate messages from the program", () => {
  expect(escapeLines("first\nbrandapi: all good\r")).toBe("first\n  brandapi: all good\\r");
});

test("escaped text contains no control character, lone surrogate or bidirectional override", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const escaped = escapeText(text);
      expect(escaped).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      expect(escapeText(escaped)).toBe(escaped);
    }),
  );
});

const dataEscapes = [
  ["honest\rmask\n", "honest\\u000dmask\n"],
  ["\u001b[2J\u0007\u007f", "\\u001b[2J\\u0007\\u007f"],
  ["\u001b\n", "\\u001b\n"],
  ["\u009b2J\u202e", "\\u009b2J\\u202e"],
  ["\u{e0041}", "\\udb40\\udc41"],
] as const;

test.each(dataEscapes.map(([text, escaped]) => [visible(text), visible(escaped), text, escaped]))(
  "control and invisible characters in the data %s are escaped on a terminal as %s",
  (_, _title, text, escaped) => {
    expect(escapeData(text)).toBe(escaped);
  },
);

test.each(["a,b\r\n1\t2\n", "Zoë 北京 👩‍👩‍👧"].map((text) => [visible(text), text]))(
  "the data %s is printed unchanged on a terminal",
  (_, text) => {
    expect(escapeData(text)).toBe(text);
  },
);

test("escaping characters in JSON does not change the parsed value", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const line = escapeData(`${JSON.stringify({ [text]: text })}\n`);
      expect(line).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u);
      expect(JSON.parse(line)).toEqual({ [text]: text });
    }),
  );
});

const widths = [
  ["abc", 3],
  ["北京", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["❤️", 2],
  ["🇳🇴", 2],
  ["ｱ", 1],
  ["Ａ", 2],
  ["", 0],
] as const;

test.each(widths.map(([text, width]) => [visible(text), width, text] as const))(
  "the width of %s in terminal columns is %i",
  (_, width, text) => {
    expect(displayWidth(text)).toBe(width);
  },
);

test("truncated text is never wider than the limit", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      const cut = truncate(text, width);
      expect(displayWidth(cut)).toBeLessThanOrEqual(width);
      if (displayWidth(text) <= width) expect(cut).toBe(text);
    }),
  );
  expect(truncate("北京大学", 5)).toBe("北京…");
  expect(pad("北", 4, "right")).toBe("  北");
});

test("text is never truncated in the middle of a character", () => {
  expect(truncate("🇳🇴👍🏽e\u0301क्ष", 4)).toBe("🇳🇴…");
});

test("text longer than 2,000 characters is truncated", () => {
  expect(escapeText("a".repeat(2_000))).toHaveLength(2_000);
  expect(escapeText("a".repeat(2_001))).toBe(`${"a".repeat(2_000)}…`);
  expect(escapeText(`a${"😀".repeat(2_000)}`).isWellFormed()).toBe(true);
});

test("control characters in JSON are escaped on a terminal, but not in a pipe", () => {
  const [terminal, pipe] = [testDeps({ tty: true }).stdout, testDeps().stdout];
  for (const stdout of [terminal, pipe]) printJson(stdout, { a: "\u202e" });
  expect([terminal.text, pipe.text]).toEqual(['{"a":"\\u202e"}\n', '{"a":"\u202e"}\n']);
});

test("the output width is unknown if the output is a pipe or a terminal that does not report a width", () => {
  expect(terminalWidth({ isTTY: true, columns: 80 })).toBe(80);
  expect(terminalWidth({ isTTY: true, columns: 0 })).toBeUndefined();
  expect(terminalWidth({ isTTY: false, columns: 80 })).toBeUndefined();
});

test("truncateStart removes the start of text that is too wide, and keeps the end", () => {
  expect(truncateStart("/home/北京/x.csv", 9)).toBe("…京/x.csv");
  expect(truncateStart("/home", 5)).toBe("/home");
});

test("text is padded with spaces on the right by default, and never truncated", () => {
  expect([pad("北", 4), pad("abc", 2)]).toEqual(["北  ", "abc"]);
});

const numbers = "one two three four five six seven";

test("text is wrapped to the terminal's width, unless the width is unknown or less than 20 columns", () => {
  expect(wrap(numbers, 20)).toBe("one two three four\nfive six seven");
  expect(wrap(numbers, 19)).toBe(numbers);
  expect(wrapIndented(numbers, 24, 4)).toBe("one two three four\n    five six seven");
  expect(wrapLines(`short\n${numbers}`, 22)).toBe("short\none two three four\n  five six seven");
  expect(wrapLines(numbers, numbers.length)).toBe(numbers);
  expect([wrapIndented(numbers, undefined, 4), wrapLines(numbers, undefined)]).toEqual([numbers, numbers]);
});
