import { expect, test } from "vitest";
import { findJsonFault } from "../../src/util/json-fault.js";
import { parseJson } from "../../src/util/json-value.js";
import { visible } from "../support/visible.js";

const valid = '{"profiles": {"a": {"key": "x\\u00e9\\n", "n": [-1.5e3, true, null, {}, []]}}}\n';

test("findJsonFault finds a fault in exactly the strings that JSON.parse rejects", () => {
  const insertions = ["", ",", ":", '"', "'", "{", "}", "[", "]", "1", "x", " ", "\n", "\\", "-", ".", "0"];
  for (let position = 0; position <= valid.length; position += 1)
    for (const inserted of insertions)
      for (const removed of [0, 1, 2]) {
        const text = valid.slice(0, position) + inserted + valid.slice(position + removed);
        const isRejected = parseJson(text) === undefined;
        expect({ text, isRejected: findJsonFault(text) !== null }).toEqual({ text, isRejected });
      }
});

const faults: [string, number, string][] = [
  ['{\n  "profiles": {\n    "a": {"key": "brk_secret",}\n  }\n}', 3, "a comma before a closing bracket"],
  [
    '{\n  "profiles": {"a": {"key": "brk_secret"\n    "db": "x"}}}',
    2,
    "a comma is missing at the end of the line",
  ],
  ['{\n  "profiles": {\n    a: {}}}', 3, "an unexpected character, or text without double quotes"],
  ["{\n  'profiles': {}}", 2, "text is not in straight double quotes"],
  ["\n{'profiles': {}}", 2, "text is not in straight double quotes"],
  ["{a: 'b'} // c", 1, "an unexpected character, or text without double quotes"],
  ['{\n  // brands\n  "profiles": {}}', 2, "JSON does not allow comments"],
  ['{"profiles":\n  {"a": {"key": "brk_secret"}\n', 2, "unexpected end of file"],
  ['{"profiles": {"a": {"key": "brk_secret}}}', 1, "a string is not closed"],
  ['{"profiles" {}}', 1, "a colon is missing after a name"],
  ['{"profiles": {"a": ]}', 1, "a value is missing"],
  ['{"profiles": {"a": {}]}', 1, "a closing bracket of the wrong kind"],
  ['{"profiles": {}}\n}', 2, "unexpected text after the end of the JSON"],
  ["", 1, "unexpected end of file"],
  ['{"a": 1 "b": 2}', 1, "a comma is missing between two values"],
  ['{"a": [1 2]}', 1, "a comma is missing between two values"],
  ["[1,]", 1, "a comma before a closing bracket"],
  ["[1,\n]", 2, "a comma before a closing bracket"],
  ['{"a"\n1}', 2, "a colon is missing after a name"],
  ["[}", 1, "a closing bracket of the wrong kind"],
  ['{"a": , "b": 1}', 1, "a value is missing"],
  ["[,]", 1, "a value is missing"],
  ["{1: 2}", 1, "a name is not in double quotes"],
  ['{"a": 1, 2: 3}', 1, "a name is not in double quotes"],
  ["{“a”: 1}", 1, "text is not in straight double quotes"],
  ["[‘a’]", 1, "text is not in straight double quotes"],
  ["[1, /* two */ 2]", 1, "JSON does not allow comments"],
  ["[1] # one", 1, "JSON does not allow comments"],
  ['["a\tb"]', 1, "a string is not closed or contains an invalid character"],
  ['["\\x"]', 1, "a string is not closed or contains an invalid character"],
];

test.each(faults.map(([text, line, reason]) => [visible(text), line, reason, text] as const))(
  "findJsonFault reports the fault in %s on line %i: %s",
  (_, line, reason, text) => {
    expect(findJsonFault(text)).toEqual({ line, reason: expect.stringContaining(reason) });
  },
);
