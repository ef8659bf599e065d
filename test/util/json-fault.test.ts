import { expect, test } from "vitest";
import { findJsonFault } from "../../src/util/json-fault.js";
import { parseJson } from "../../src/util/json-value.js";

const valid = '{"profiles": {"a": {"key": "x\\u00e9\\n", "n": [-1.5e3, true, null, {}, []]}}}\n';

test("findJsonFault reports a fault if and only if JSON.parse rejects the text", () => {
  const insertions = ["", ",", ":", '"', "'", "{", "}", "[", "]", "1", "x", " ", "\n", "\\", "-", ".", "0"];
  for (let position = 0; position <= valid.length; position += 1)
    for (const inserted of insertions)
      for (const removed of [0, 1, 2]) {
        const text = valid.slice(0, position) + inserted + valid.slice(position + removed);
        const isRejected = parseJson(text) === undefined;
        expect({ text, isRejected: findJsonFault(text) !== null }).toEqual({ text, isRejected });
      }
});
