import { expect, test } from "vitest";
import { checkOwner, claimMirror } from "../../src/mirror/info.js";
import { keyOf } from "../../src/records/index.js";
import { content } from "../../src/resources/content.js";
import { mirrorForTest } from "./mirror.js";

test("a key of several parts tells them apart, whatever they hold", () => {
  const key = (source: string, id: string) => {
    const value = { source, id };
    return keyOf(content, { json: JSON.stringify(value), value }, 0);
  };
  expect(key("upload", "7")).toBe("upload/7");
  expect(new Set([key("a/b", "c"), key("a", "b/c"), key("a%2Fb", "c"), key("a", "b%2Fc")]).size).toBe(4);
});

test("two brands of one name are told apart by their ids", async () => {
  const mirror = await mirrorForTest();
  claimMirror(mirror, { id: "b-1", name: "Fjell" });
  expect(() => checkOwner(mirror, { id: "b-2", name: "Fjell" })).toThrow(
    "The mirror belongs to another brand, Fjell (b-1), and the key to Fjell (b-2).",
  );
});
