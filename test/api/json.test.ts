import { describe, expect, it } from "vitest";
import { bounds } from "../../src/api/bounds.js";
import { exactRecords, minify, sliceEnvelope } from "../../src/api/json.js";
import fc from "../support/property.js";

const numbers = fc.constantFrom(
  "0",
  "-0",
  "12.50",
  "1e400",
  "9007199254740993",
  "0.1000000000000000055511151231257827",
  "1E-7",
  "-3",
);
const space = fc.constantFrom("", "", " ", "\n", "\r\n\t ");

/** JSON texts with odd numbers, escapes and whitespace, as a server may write them. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("null", "true", "false"),
    numbers,
    fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0000\\ud800"', '"a\\\\"', '"\\"data\\": ["', '"]},{"', '"  two  spaces "'),
    fc
      .tuple(space, fc.array(fc.tuple(tie("json"), space), { maxLength: 4 }))
      .map(([lead, items]) => `[${lead}${items.map(([item, gap]) => item + gap).join(",")}]`),
    fc
      .tuple(space, fc.array(fc.tuple(fc.string(), tie("json"), space), { maxLength: 4 }))
      .map(
        ([lead, members]) =>
          `{${lead}${members.map(([name, value, gap]) => `${gap}${JSON.stringify(name)}${gap}:${value}${gap}`).join(",")}}`,
      ),
  ),
}));

const most = { items: 1_000, values: 200_000 };
const slice = (text: string) => sliceEnvelope(Buffer.from(text), most);

const literals = (text: string) =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)]
    .map(([token]) => token)
    .filter((token) => token[0] !== '"');

function items(text: string) {
  const body = Buffer.from(text);
  return exactRecords(body, sliceEnvelope(body, most));
}

describe("slices of an envelope", () => {
  it("parse to the same values, keep every digit, and hold no line break", () => {
    fc.assert(
      fc.property(fc.array(json), json, space, (records, other, gap) => {
        const text = `${gap}{${gap}"success"${gap}:true,"_x":${other},"data":${gap}[${gap}${records.join(`${gap},${gap}`)}${gap}]${gap},"y":${other}${gap}}${gap}`;
        const found = items(text);
        expect(found.map((each) => each.json)).toEqual(records.map(minify));
        for (const [index, record] of found.entries()) {
          expect(JSON.parse(record.json)).toEqual(record.value);
          expect(record.json).not.toMatch(/[\n\r]/);
          expect(literals(record.json)).toEqual(literals(records[index] ?? ""));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("minify to what JSON.stringify would write, where nothing is lost by parsing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(minify(JSON.stringify(value, null, "\t \n"))).toBe(text);
      }),
    );
  });

  it.each([
    ['{"data":[1],"data":[2,3]}', ["2", "3"]],
    ['{"d\\u0061ta":[7]}', ["7"]],
    ['{"data":[]}', []],
    ['{"data":[ ]}', []],
    ['{"DATA":[1],"x":{"data":[2]},"data":[3]}', ["3"]],
    ['{"data":[{"a":1,"a":2.0}]}', ['{"a":1,"a":2.0}']],
  ])("of %s are %j: duplicates and escapes as JSON.parse reads them", (text, expected) => {
    expect(items(text).map((each) => each.json)).toEqual(expected);
  });

  it("are not found where the last `data` is no array", () => {
    const slices = slice('{"data":[1],"data":{"a":1.0}}');
    expect(slices.items).toBeNull();
    expect(slices.data).toEqual({ from: 19, to: 28 });
  });

  it("end for any text, JSON or not", () => {
    const pieces = fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", " ", '"data"', "1", "\n", "x");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        for (const text of [parts.join(""), `{"data":${parts.join("")}`, `{"data":[${parts.join("")}`]) {
          const { items, excess } = slice(text);
          expect(excess).toBeNull();
          expect((items ?? []).length).toBeLessThanOrEqual(2 * text.length);
        }
      }),
    );
  });

  it("are refused beyond the deepest level, wherever it is", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    const tooDeep = `is nested more than ${bounds.depth} levels deep`;
    expect(slice(`{"data":${nested(bounds.depth - 1)}}`).excess).toBeNull();
    expect(slice(`{"data":${nested(bounds.depth)}}`).excess).toBe(tooDeep);
    expect(slice(`{"other":${nested(bounds.depth)}}`).excess).toBe(tooDeep);
    expect(slice(nested(bounds.depth + 1)).excess).toBe(tooDeep);
    expect(slice("[".repeat(1_000_000)).excess).toBe(tooDeep);
  });

  const list = (count: number, one = "1") => `[${Array(count).fill(one).join(",")}]`;
  const object = (count: number) =>
    `{${Array.from({ length: count }, (_, n) => `"m${n}":${n % 10}`).join(",")}}`;
  const { digits, members } = bounds;
  const { values } = most;

  it.each([
    ["items of the list", 1_000, (count: number) => `{"data":${list(count)}}`],
    ["members of a record", members, (count: number) => `{"data":[${object(count)}]}`],
    ["members deep in a record", members, (count: number) => `{"data":[{"a":[${object(count)}]}]}`],
    ["members of the data", members, (count: number) => `{"data":${object(count)}}`],
    ["members beside the data", members, (count: number) => `{"data":[],"x":${object(count)}}`],
    ["members of the envelope", members, (count: number) => object(count)],
    ["digits of a number", digits, (count: number) => `{"data":[{"n":${"7".repeat(count)}}]}`],
    ["digits behind the point", digits, (count: number) => `{"data":{"n":0.${"7".repeat(count - 2)}}}`],
    // The array itself is one of them, and so are the record and the list's item.
    ["elements of an array", values - 3, (count: number) => `{"data":[{"a":${list(count + 1)}}]}`],
    ["objects in an array", values / 2 - 1, (count: number) => `{"data":{"a":${list(count, "{}")}}}`],
    ["items of a list that comes twice", values, (count: number) => `{"data":${list(count)},"data":[]}`],
  ])("are refused where there are too many %s", (name, count, text) => {
    expect(slice(text(count)).excess, name).toBeNull();
    expect(slice(text(count + 1)).excess, name).toMatch(
      /^holds .*more than [\d,]+ (?:items|members|values|digits)$/,
    );
  });

  it("are counted in text that has no end, too", () => {
    expect(slice(`{"data":[${"1,".repeat(2_000)}`).excess).toBe("holds more than 1,000 items");
    expect(slice(`{"data":{"a":[${"1,".repeat(values + 2)}`).excess).toBe("holds more than 200,000 values");
  });

  it("keep no more places than the list may have items", () => {
    expect(slice(`{"data":${list(5_000)}}`).items).toHaveLength(2_000);
  });
});
