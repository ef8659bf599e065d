import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { transfer } from "../../src/download/transfer.js";
import { Stopped } from "../../src/errors.js";
import { makeBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { makeHome } from "../support/home.js";
import { download, fileOf, isWhole, libraryOf, namesIn, size, spoilFiles } from "./brand.js";

const half = size / 2;
const big = { file_size_bytes: size };

/** Leaves half of each file, as a run does that was stopped. */
async function halved(files: readonly string[]) {
  const brand = await libraryOf(Object.fromEntries(files.map((id) => [id, big])));
  const { files: whole } = await download(brand);
  for (const { path } of whole) {
    const bytes = readFileSync(path);
    writeFileSync(`${path}.part`, bytes.subarray(0, half));
  }
  return { brand, whole };
}

test("a download that was stopped leaves a part, and the next run fetches only the rest", async () => {
  const brand = await libraryOf({ a: big });
  const stop = new AbortController();
  // Half of the file comes; then the person ends the run, and nothing more comes.
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    const bytes = Buffer.from(await (await brand.fetch(url, init)).arrayBuffer());
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        to.enqueue(new Uint8Array(bytes.subarray(0, half)));
        setTimeout(() => stop.abort(new Stopped("SIGINT")), 50);
      },
    });
    return new Response(body);
  };
  const run = await download(brand, "", { signal: stop.signal, fetch });
  expect(run.code).toBe(130);
  expect(namesIn(brand)).toEqual([expect.stringMatching(/a\.jpg\.part$/)]);
  expect(brand.sql("SELECT * FROM content_downloads")).toEqual([]);

  const again = await download(brand);

  expect(again.asked.find((request) => fileOf(request))?.headers.range).toBe(`bytes=${half}-`);
  expect(again.files[0]).toMatchObject({ resumed_from: half, bytes: size });
  for (const file of again.files) expect(isWhole(file)).toBe(true);
  expect(namesIn(brand)).toHaveLength(1);
});

test.each<[string, Fault]>([
  ["416", { status: 416 }],
  ["another range", { status: 206, headers: { "content-range": `bytes 0-9/${size}` }, body: "0123456789" }],
  ["206 without a range", { status: 206, body: "0123456789" }],
  ["another size", { status: 206, headers: { "content-range": `bytes ${half}-9/10` }, body: "x" }],
])("a file host that answers the rest with %s is asked for the whole", async (_, fault) => {
  const brand = await libraryOf({ a: big });
  const { files } = await download(brand);
  const path = files[0]?.path ?? "";
  writeFileSync(`${path}.part`, readFileSync(path).subarray(0, half));
  writeFileSync(path, "damaged");
  const asked = spoilFiles(brand, (_, count) => (count === 1 ? fault : undefined));
  const again = await download(brand);
  expect(asked.map(({ headers }) => headers.range)).toEqual([`bytes=${half}-`, undefined]);
  for (const file of again.files) expect(isWhole(file)).toBe(true);
});

test("a part that is whole already, of a run killed before its last step, needs no request", async () => {
  const { brand, whole } = await halved(["a"]);
  const path = whole[0]?.path ?? "";
  writeFileSync(`${path}.part`, readFileSync(path));
  writeFileSync(path, "damaged");
  const again = await download(brand);
  expect(again.asked.filter((request) => fileOf(request))).toEqual([]);
  for (const file of again.files) expect(isWhole(file)).toBe(true);
});

test("each try has a fresh signed URL, and a wait before it", async () => {
  const brand = await libraryOf({ a: {} });
  const asked = spoilFiles(brand, (_, count) =>
    count < 3 ? { status: count === 1 ? 503 : 403 } : undefined,
  );
  const before = brand.now();
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(new Set(asked.map(({ query }) => JSON.stringify(query))).size).toBe(3);
  expect(run.asked.filter(({ path }) => path.endsWith("/download"))).toHaveLength(3);
  expect(brand.now() - before).toBeGreaterThan(3_000);
});

test("`Retry-After` of the file host is kept to, up to `--max-wait`", async () => {
  const waited = async (seconds: string) => {
    const brand = await libraryOf({ a: {} });
    spoilFiles(brand, (_, count) =>
      count === 1 ? { status: 429, headers: { "retry-after": seconds } } : undefined,
    );
    const before = brand.now();
    expect((await download(brand, "--max-wait 5m")).summary).toMatchObject({ downloaded: 1 });
    return Math.round((brand.now() - before) / 60_000);
  };
  expect(await waited("120")).toBe(2);
  expect(await waited("86400")).toBe(5);
});

test.each<[string, number, Fault]>([
  ["refuses every URL", 3, { status: 403 }],
  ["does not have the file", 1, { status: 404 }],
  ["redirects", 1, { status: 302, headers: { location: "https://elsewhere.test/signature=stolen" } }],
  ["answers with a strange status", 1, { status: 418 }],
  ["always sends a shorter file", 3, { body: "short" }],
  ["states another size", 3, { body: "short", headers: { "content-length": "5" } }],
  ["never stops sending", 3, "endless"],
  ["breaks off", 3, "reset"],
])(
  "a file host that %s costs that file only, after %i tries, and leaves nothing behind",
  async (_, tries, fault) => {
    const brand = await libraryOf({ bad: {}, good: {} });
    const asked = spoilFiles(brand, (id) => (id === "bad" ? fault : undefined));
    const run = await download(brand, "--verbose");
    expect(run.code).toBe(8);
    expect(run.summary).toMatchObject({ downloaded: 1, failed: 1, not_tried: 0 });
    expect(run.files[0]).toMatchObject({ id: "bad", outcome: "failed", error: expect.stringMatching(/\w/) });
    expect(run.err).toContain("1 of 2 files were not fetched.");
    expect(asked.filter((request) => fileOf(request) === "bad")).toHaveLength(tries);
    expect(namesIn(brand)).toEqual([expect.stringMatching(/good\.jpg$/)]);
    // Neither a signed URL nor the key is printed or stored.
    const stored = readdirSync(brand.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    for (const text of [run.out, run.err, ...stored]) {
      expect(text).not.toMatch(/signature=|files\.brand\.test/);
      expect(text).not.toContain(brand.key);
    }
  },
);

test("a try of which nothing more comes ends at its time limit", async () => {
  const part = await open(join(makeHome(), "part"), "a");
  const limits: number[] = [];
  const host = {
    fetch: async () => new Response(new ReadableStream()),
    signal: new AbortController().signal,
    userAgent: "test",
    maxWaitMs: 60_000,
    later(ms: number, call: () => void) {
      limits.push(ms);
      setImmediate(call);
      return () => {};
    },
  };
  const url = new URL("https://files.test/x?signature=secret");
  const ended = transfer(url, part, { from: 0, size: 64_000_000 }, host, () => {});
  await expect(ended).rejects.toMatchObject({ kind: "host", message: "the file host took too long" });
  expect(limits).toEqual([60_000 + 1_000_000]);
  await part.close();
});

test("a file whose size nobody states is taken as it comes, and never pieced together", async () => {
  const brand = await libraryOf({ a: { file_size_bytes: null } });
  const asked = spoilFiles(brand, (_, count) => (count === 1 ? "cut" : undefined));
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(asked.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  expect(isWhole(run.files[0] ?? ({} as never), run.files[0]?.bytes ?? 0)).toBe(true);
});

test("a file host that is down is given up after a few files, and the rest is not tried", async () => {
  const brand = await libraryOf(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, {}])));
  spoilFiles(brand, () => "reset");
  const run = await download(brand);
  expect(run.code).toBe(6);
  const { failed, not_tried } = run.summary ?? {};
  expect(failed).toBeLessThanOrEqual(7);
  expect(Number(failed) + Number(not_tried)).toBe(12);
  expect(namesIn(brand)).toEqual([]);
});

test("a file that left the library costs that file only", async () => {
  const brand = await libraryOf({ a: {}, b: {} });
  brand.remove("content", "upload/a");
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1, failed: 1 });
  expect(run.files[0]?.error).toBe("the API has no download URL for it (404)");
});

test.each([
  ["http://files.brand.test/x", "its download URL is not https"],
  ["https://user:secret@files.brand.test/x", "its download URL holds a user name or password"],
  [7, "the API gave no download URL for it"],
])("a download URL such as %j is not called", async (url, error) => {
  const brand = await libraryOf({ a: {} });
  brand.before = ({ path }) =>
    path.endsWith("/download") ? { envelope: (whole) => ({ ...whole, data: { url } }) } : undefined;
  const run = await download(brand);
  expect(run.files[0]?.error).toBe(error);
  expect(run.asked.filter(({ path }) => path === "/x")).toEqual([]);
});

test.each([
  [401, 4],
  [503, 6],
])("an API that answers %i ends the whole run with %i", async (status, code) => {
  const brand = await libraryOf(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`f${n}`, {}])));
  brand.before = ({ path }) => (path.endsWith("/download") ? { status } : undefined);
  const run = await download(brand, "--max-wait 1s");
  expect(run).toMatchObject({ code, summary: undefined });
});

test("a mirror that has never read the library says which command comes first", async () => {
  const run = await makeBrand().run("download content");
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("`brandapi sync content") });
});
