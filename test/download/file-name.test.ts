import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { fileName, foldName, type NamedFile } from "../../src/download/file-name.js";
import fc, { anyText } from "../support/property.js";
import { visible } from "../support/visible.js";

const file: NamedFile = {
  source: "upload",
  id: "7d5c1a52-3a43-4f0e-8a57-0c3a5a1b2c3d",
  filename: "reel final.mp4",
  mimeType: "video/mp4",
  createdAt: "2026-03-04T23:59:59Z",
};
const nameFor = (change: Partial<NamedFile>) => fileName({ ...file, ...change }, new Set());
const prefix = "2026-03-04_7d5c1a52-3a43-4f0e-8a57-0c3a5a1b2c3d_";

/** Generates strings with many characters that are unsafe in file names. */
const unsafeText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "/",
        "\\",
        "..",
        ".",
        " ",
        "-",
        ":",
        "*",
        "\u0000",
        "\u001b[31m",
        "\u202e",
        "\u200d",
        "\u2028",
      ),
      fc.constantFrom(
        "CON",
        "nul",
        "aux.",
        "COM1",
        "é",
        "e\u0301",
        "ß",
        "🏔️",
        "\ud800",
        "\udc00",
        "／",
        "∕",
        "%2f",
        "\ufffe",
      ),
      anyText,
      fc.string({ unit: "grapheme", maxLength: 300 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const files: fc.Arbitrary<NamedFile> = fc.record({
  source: fc.oneof(fc.constantFrom("upload", "deliverable"), unsafeText),
  id: fc.oneof(fc.uuid(), unsafeText),
  filename: fc.oneof(fc.constant(null), unsafeText),
  mimeType: fc.oneof(fc.constantFrom(null, "image/jpeg", "constructor"), fc.string()),
  createdAt: fc.oneof(
    fc.constant(null),
    fc.date().map(String),
    fc.constant("2026-03-04T23:59:59Z"),
    unsafeText,
  ),
});

test("the name of a downloaded file consists of its date, its ID and its name in the library", () => {
  expect(nameFor({})).toBe(`${prefix}reel final.mp4`);
});

const names = [
  ["../../etc/passwd", "etc_passwd"],
  ["C:\\boot.ini", "C_boot.ini"],
  ["a\u0000b.jpg", "a_b.jpg"],
  ["photo\u202egnp.exe", "photognp.exe"],
  ["\u001b[2Jx.png", "[2Jx.png"],
  [".bashrc", "bashrc"],
  ["-rf", "rf"],
  ["trailing. . .", "trailing"],
  ["cafe\u0301.jpg", "café.jpg"],
  ["\u0301x.jpg", "x.jpg"],
  ["a\u200db\ufe0fc\u3164d\u0600e.jpg", "abcde.jpg"],
  ["a\ue000b\u0378c.jpg", "a_b_c.jpg"],
  ["a \u00a0 b.jpg", "a b.jpg"],
  ["a/_/b.jpg", "a_b.jpg"],
  ['a<b>c:d"e/f\\g|h?i*j.jpg', "a_b_c_d_e_f_g_h_i_j.jpg"],
  ["a＜b＞c：d＂e／f＼g｜h？i＊j⁄k∕l⧵m⧸n﹨o.jpg", "a_b_c_d_e_f_g_h_i_j_k_l_m_n_o.jpg"],
  ["\ud800.jpg", "jpg"],
  ["", "file.mp4"],
  ["...", "file.mp4"],
  [null, "file.mp4"],
] as const;

const nameTitle = (filename: string | null) =>
  filename ? `the name ${visible(filename)}` : filename === "" ? "an empty name" : "no name";

test.each(names.map(([filename, expected]) => [nameTitle(filename), expected, filename] as const))(
  "a library file with %s is saved as %j",
  (_, expected, filename) => {
    expect(nameFor({ filename })).toBe(prefix + expected);
  },
);

test("a long file name is truncated at a character boundary and keeps its extension", () => {
  const name = nameFor({ filename: `${"🏔".repeat(200)}.jpeg` });
  expect(name.endsWith("🏔.jpeg")).toBe(true);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(195);
  const maxStem = 195 - prefix.length - ".mp4".length;
  expect(nameFor({ filename: `V1.2 ${"a".repeat(2_000)}.mp4` })).toBe(
    `${prefix}V1.2 ${"a".repeat(maxStem - 5)}.mp4`,
  );
  const exact = `${"a".repeat(maxStem)}.mp4`;
  expect(nameFor({ filename: exact })).toBe(prefix + exact);
  expect(nameFor({ filename: `${"a".repeat(maxStem - 1)} and more.mp4` })).toBe(
    `${prefix}${"a".repeat(maxStem - 1)}.mp4`,
  );
});

test("in a downloaded file's name, an ID of more than 64 characters is truncated and followed by a hash", () => {
  const longest = "x".repeat(64);
  expect(nameFor({ id: longest })).toBe(`2026-03-04_${longest}_reel final.mp4`);
  expect(nameFor({ id: `${longest}y` })).toMatch(/^2026-03-04_x{64}-[0-9a-f]{12}_reel final\.mp4$/);
});

test.each([
  ["image/jpeg", ".jpg"],
  ["IMAGE/PNG", ".png"],
  ["image/webp; charset=binary", ".webp"],
  ["image/gif ;q=1", ".gif"],
  ["video/quicktime", ".mov"],
  ["audio/mpeg", ".mp3"],
  ["audio/mp4", ".m4a"],
  ["audio/wav", ".wav"],
  ["application/gz", ".gz"],
])("a downloaded file of type %s without a name gets the extension %s", (mimeType, extension) => {
  expect(nameFor({ filename: null, mimeType })).toBe(`${prefix}file${extension}`);
});

test.each([
  ["the type image/svg+xml", "image/svg+xml"],
  ["the type text/plain", "text/plain"],
  ["the type application/octet-stream", "application/octet-stream"],
  ["an unknown type", null],
])("a downloaded file of %s without a name gets no extension", (_, mimeType) => {
  expect(nameFor({ filename: null, mimeType })).toBe(`${prefix}file`);
});

test.each([
  ["É", "e\u0301"],
  ["ß", "SS"],
  ["ẞ", "ß"],
  ["ς", "Σ"],
  ["ℌ", "h"],
  ["ﬁ", "FI"],
])(
  "the file names %s and %s count as equal, because some file systems do not distinguish them",
  (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  },
);

test("a downloaded file's name starts with its date in UTC, or with `undated` if the date cannot be parsed", () => {
  expect(nameFor({ createdAt: "2026-03-05T01:00:00+02:00" })).toMatch(/^2026-03-04_/);
  expect(nameFor({ createdAt: "../.." })).toMatch(/^undated_/);
});

test("files whose IDs differ only in unsafe characters get different names on disk", () => {
  const names = ["a/b", "a\\b", "a_b"].map((id) => nameFor({ id }));
  expect(new Set(names.map(foldName)).size).toBe(3);
});

test("every name and ID from the API results in a portable file name inside the output folder", () => {
  fc.assert(
    fc.property(files, (named) => {
      const name = fileName(named, new Set());
      const folder = resolve("/out");
      expect(resolve(join(folder, name))).toBe(`${folder}/${name}`);
      expect(Buffer.byteLength(`${name}.part`)).toBeLessThanOrEqual(255);
      expect(name).not.toMatch(/[<>:"/\\|?*\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(name).not.toMatch(/^[.\-\s]|[.\s]$/u);
      expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
      expect(name.normalize("NFC")).toBe(name);
      expect(name).toMatch(/^(\d{4}-\d\d-\d\d|undated)_.+_.+$/su);
    }),
    { numRuns: 1_000 },
  );
});

test("all downloaded files get distinct names, even on file systems that ignore case or Unicode normalization", () => {
  const similarFiles = fc.uniqueArray(
    fc.record({
      source: fc.constantFrom("upload", "deliverable"),
      id: fc.constantFrom("a", "A", "a/", "é", "e\u0301", ""),
      filename: fc.constantFrom("x.jpg", "X.JPG", "x.jpg.", null),
      mimeType: fc.constant(null),
      createdAt: fc.constant(null),
    }),
    { maxLength: 40, selector: ({ source, id }) => `${source}/${id}` },
  );
  fc.assert(
    fc.property(similarFiles, (list) => {
      const taken = new Set<string>();
      for (const file of list) {
        const folded = foldName(fileName(file, taken));
        expect(taken.has(folded)).toBe(false);
        taken.add(folded);
      }
    }),
  );
});

test("the name of a downloaded file does not depend on the other files in the run", () => {
  fc.assert(
    fc.property(files, files, (file, other) => {
      const name = fileName(file, new Set());
      const neighbor = foldName(fileName(other, new Set()));
      fc.pre(neighbor !== foldName(name));
      expect(fileName(file, new Set([neighbor]))).toBe(name);
    }),
  );
});
