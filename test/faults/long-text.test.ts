import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { aPage } from "../../src/api/bounds.js";
import { type Fault, faultOf, withoutKey } from "../../src/api/faults.js";
import { minify, sliceEnvelope } from "../../src/api/json.js";
import { leaksKey } from "../../src/api/leaked-key.js";
import { readRetryAfter, readServerLimit } from "../../src/api/limits.js";
import { forbidden } from "../../src/api/refusals.js";
import { hintFor, reportError } from "../../src/commands/errors.js";
import { parseRateLimit } from "../../src/commands/flags.js";
import { parseCount, parseList, parseParameter } from "../../src/commands/values.js";
import { checkBaseUrl } from "../../src/config/base-url.js";
import { checkKey } from "../../src/config/key.js";
import { ok, unchecked } from "../../src/doctor/check.js";
import { downloadPath, readFileUrl } from "../../src/download/address.js";
import { fileName } from "../../src/download/name.js";
import { asDay } from "../../src/export/days.js";
import { neutralize } from "../../src/export/formulas.js";
import { finishCells } from "../../src/export/joined-cells.js";
import { textCell, xmlText } from "../../src/export/sheet-cells.js";
import { asBrandapiError } from "../../src/lib/failures.js";
import { nearest, suggest } from "../../src/lib/nearest.js";
import { hideKeys } from "../../src/lib/secrets.js";
import { parseDuration, parseInstant, parseTimestamp, parseWindow } from "../../src/lib/times.js";
import { complaintText } from "../../src/records/complaint-text.js";
import { diffRecords } from "../../src/records/diff.js";
import { hasId, keysOf } from "../../src/records/keys.js";
import { sameRecord } from "../../src/records/same.js";
import { name, sentence } from "../../src/report/html.js";
import { resources } from "../../src/resources/index.js";
import type { Resource } from "../../src/resources/types.js";
import { escapeData, openDataEscaper } from "../../src/ui/data.js";
import { renderFacts } from "../../src/ui/facts.js";
import { progressLine } from "../../src/ui/progress.js";
import { styleFor } from "../../src/ui/style.js";
import { renderTable } from "../../src/ui/table.js";
import { escapeLines, escapeText } from "../../src/ui/text.js";
import { displayWidth, pad, shorten, truncate, wrap } from "../../src/ui/width.js";
import { testDeps } from "../support/program.js";

/** What a host, a server or a file can send, each as long as `longest`. */
const classes: Record<string, string> = {
  letters: "a",
  dots: ".",
  blanks: " ",
  "line breaks": "\n",
  "line ends": "\r\n",
  tabs: "\t",
  controls: "\u0001",
  "escape sequences": "\u001b[31m",
  "combining marks": "\u0323\u0301\u0315",
  "letters with marks": "a\u0301",
  "halves of characters": "\ud800",
  "other halves": "\udc00",
  emoji: "\u{1f600}",
  families: "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "joiners alone": "\u200d",
  flags: "\u{1f1e9}\u{1f1ea}",
  "wide letters": "\u4e2d",
  "letters from right to left": "\u05d0",
  "overrides of direction": "\u202e",
  quotes: '"',
  "equals signs": "=",
  digits: "1",
  "letters and digits": "aB3",
  backslashes: "\\",
  "words and signs": 'a-b. "c" = d_e/f\u0301;',
};

const resource = (name: string) => resources.find((one) => one.name === name) as Resource;
const [orders, roster, gifts] = [resource("orders"), resource("roster"), resource("gifts")];
const record = (id: string) => ({ id });
const json = (text: string) => `{"id":${JSON.stringify(text)},"n":1.50}`;
/** Headers of any text: real ones hold less. */
const headers = (text: string) => ({ get: () => text }) as unknown as Headers;
const deps = testDeps();
const style = styleFor(deps.stdout, { color: false });
const progress = {
  unit: "pages",
  done: 1,
  total: 2,
  position: 1,
  of: 1,
  requests: 1,
  left: 1,
  isKnown: true,
} as const;
const look = { style, unicode: true, perMinute: 60 };
const file = { source: "upload", id: "f1", filename: null, mimeType: null, createdAt: null };

/** Everything that text from outside goes through, whoever wrote it. */
const functions: Record<string, (text: string) => unknown> = {
  // What a screen shows.
  escapeText,
  escapeLines,
  escapeData,
  openDataEscaper: (text) => [openDataEscaper()].map((each) => each.piece(text) + each.end()),
  displayWidth,
  truncate: (text) => truncate(text, 20),
  "truncate, to much": (text) => truncate(text, 10_000),
  pad: (text) => pad(text, 20),
  shorten,
  "renderTable, a cell": (text) => renderTable(["a", "b"], [[text, 1]], { width: 80 }),
  "renderTable, a title": (text) => renderTable([text, "b"], [["x", 1]]),
  renderFacts: (text) => renderFacts([["brand", text]], { style, width: 80 }),
  progressLine: (text) => progressLine({ ...progress, name: text }, 80, look),
  // What a page and its text show.
  "name, on a page": name,
  sentence,
  wrap: (text) => wrap(text, 80),
  // Names of files, and what a file host says.
  "fileName, the filename": (text) => fileName({ ...file, filename: text }, new Set()),
  "fileName, the id": (text) => fileName({ ...file, id: text }, new Set()),
  "fileName, the kind": (text) => fileName({ ...file, mimeType: text, createdAt: text }, new Set()),
  downloadPath: (text) => downloadPath({ ...file, downloadPath: text }, "https://brand.test/api/brand/v1"),
  readFileUrl: (text) => readFileUrl(`https://files.test/${text}`, "https://brand.test/api/brand/v1"),
  "readFileUrl, the host": (text) => readFileUrl(`https://${text}`, "https://brand.test/api/brand/v1"),
  // What an API says.
  readRetryAfter: (text) => readRetryAfter(headers(text), 0),
  readServerLimit: (text) => readServerLimit(headers(text), 0),
  faultOf: (text) => faultOf(new TypeError("fetch failed", { cause: new Error(text) }), "brand.test"),
  withoutKey: (text) =>
    withoutKey({ kind: "network", reason: "", cause: new Error(text) } satisfies Fault, "a-secret-key"),
  forbidden: (text) => forbidden({ path: "/orders", baseUrl: "", scope: "x" }, text.split(" ")),
  leaksKey: (text) => leaksKey(Buffer.from(json(text)), "aaaaaaaaab", true),
  sliceEnvelope: (text) => sliceEnvelope(Buffer.from(`{"data":[${json(text)}]}`), aPage),
  minify: (text) => minify(json(text)),
  "minify, what is no JSON": minify,
  parseTimestamp,
  "parseTimestamp, behind a date": (text) => parseTimestamp(`2026-01-01T00:00:00.${text}`),
  // Records.
  "keysOf, of an open resource": (text) => keysOf(gifts, [record(text), record(text)]),
  keysOf: (text) => keysOf(orders, [record(text)]),
  hasId,
  sameRecord: (text) =>
    sameRecord(
      { host: { profile_photo: `https://a.test/${text}` } },
      { host: { profile_photo: `https://a.test/${text}?signed` } },
      roster,
    ),
  diffRecords: (text) =>
    diffRecords({ id: "a", order_number: text }, { id: "a", order_number: `${text}.` }, orders),
  complaintText: (text) => complaintText({ kind: "attribute", table: "orders", path: text }, orders),
  // Exports.
  neutralize,
  finishCells: (text) => {
    const cells = { delimiter: ",", texts: [true], crlf: false, asText: neutralize };
    return finishCells(Buffer.concat([Buffer.from(text), Buffer.from([0xfe])]), cells);
  },
  // What a person types, and errors.
  nearest: (text) =>
    nearest(
      text,
      resources.map(({ name }) => name),
    ),
  suggest: (text) =>
    suggest(
      text,
      resources.map(({ name }) => name),
    ),
  parseList: (text) => parseList(text, undefined),
  parseCount,
  textCell: (text) => textCell(text),
  xmlText,
  asDay,
  parseParameter: (text) => parseParameter(`name=${text}`, undefined),
  parseDuration,
  parseWindow,
  parseRateLimit,
  parseInstant: (text) => parseInstant(text, "start", 0),
  checkBaseUrl: (text) => checkBaseUrl(`https://${text}`, "a test"),
  checkKey: (text) => checkKey(text, "a test"),
  ok,
  unchecked,
  hideKeys: (text) => hideKeys(text, ["a-secret-key"]),
  hintFor: (text) => hintFor(`run \`brandapi sync\`${text}`, ["sync", "--profile", text]),
  asBrandapiError: (text) => asBrandapiError(Object.assign(new Error(text), { code: text })),
  reportError: (text) =>
    reportError(new Error(text), [], { ...deps, stderr: { ...deps.stderr, write: () => true } }),
};

/** Letters: what takes the square of them takes minutes. */
const longest = 150_000;
/** Less is not worth measuring on a machine that does other things, too. */
const leastMs = 12;
/** Ten times as long a text takes ten times as long; were it a hundred, it would be the square. */
const mostTimes = 30;

function lengthen(unit: string, length: number): string {
  return `a${unit.repeat(Math.ceil(length / unit.length)).slice(0, length - 2)}b`;
}

function timeOf(work: (text: string) => unknown, text: string): number {
  const started = performance.now();
  try {
    work(text);
  } catch (error) {
    // What is typed may be refused, as long as it is soon; a pattern that goes too deep is none of that.
    if (error instanceof RangeError) throw error;
  }
  return performance.now() - started;
}

/** What takes more than its share; looked at again, since the machine may have been busy. */
function isSlow(work: (text: string) => unknown, unit: string, length: number): boolean {
  for (let look = 1; look <= 3; look += 1) {
    const whole = timeOf(work, lengthen(unit, length));
    if (whole < mostTimes * leastMs || whole < mostTimes * timeOf(work, lengthen(unit, length / 10)))
      return false;
  }
  return true;
}

test.each(Object.entries(functions))(
  "%s takes a text of anything in the time that its length asks for",
  (_, work) => {
    const slow = Object.entries(classes).filter(
      ([, unit]) => isSlow(work, unit, longest / 10) || isSlow(work, unit, longest),
    );
    expect(slow.map(([name]) => name)).toEqual([]);
  },
);

test("every function that is given a text is in the list above: who adds one adds a line there", () => {
  const src = fileURLToPath(new URL("../../src", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.startsWith("sandbox"),
  );
  const takers = files.flatMap((name) =>
    [
      ...readFileSync(join(src, name), "utf8").matchAll(
        /^export function (\w+)\((?:text|json|typed): string/gm,
      ),
    ].map(([, taker = ""]) => taker),
  );
  const listed = Object.keys(functions).map((name) => name.replace(/,.*/, ""));
  expect(takers.length).toBeGreaterThan(10);
  expect(takers.filter((taker) => !listed.includes(taker))).toEqual([]);
});
