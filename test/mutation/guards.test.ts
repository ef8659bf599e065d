import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { guards } from "./guards.js";

test("each line that `npm run mutation` breaks is still in its file, once", () => {
  const times = (text: string, part: string) => text.split(part).length - 1;
  const lost = guards.filter(({ file, line }) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    return times(source, line) !== 1;
  });
  expect(lost.map(({ file, line }) => `${file}: ${line}`)).toEqual([]);
});
