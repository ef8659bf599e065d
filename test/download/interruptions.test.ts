import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PartialFile } from "../../src/download/partial-file.js";
import { transfer } from "../../src/download/transfer.js";
import { Stopped } from "../../src/errors.js";
import { makeBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { makeHome } from "../support/home.js";
import { download, fileOf, folderOf, isWhole, libraryOf, namesIn, size, spoilFiles } from "./support.js";

const half = size / 2;
const big = { file_size_bytes: size };

/** A library with one file, which was downloaded and then damaged; `leave` writes what a stopped run leaves of it. */
async function damaged() {
  const brand = await libraryOf({ a: big });
  const { files } = await download(brand);
  const path = files[0]?.path ?? "";
  const bytes = readFileSync(path);
  writeFileSync(path, "damaged");
  const version = { header: "etag", validator: etagOf("a"), length: size };
  const leave = (count: number, change: object = {}) => {
    writeFileSync(`${path}.part`, bytes.subarray(0, count));
    writeFileSync(`${path}.etag`, JSON.stringify({ ...version, ...change }));
  };
  return { brand, path, leave };
}

function etagOf(id: string): string {
  const digest = createHash("sha256").update(`upload/${id}/${size}`).digest("hex");
  return `"${digest.slice(0, 32)}"`;
}

test("a download that was stopped leaves a part, and the next run fetches only the rest", async () => {
  const brand = await libraryOf({ a: big });
  const stop = new AbortController();
  // Half of the file comes; then the person ends the run, and nothing more comes.
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    const response = await brand.fetch(url, init);
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        to.enqueue(new Uint8Array(bytes.subarray(0, half)));
        const timer = setInterval(() => {
          const part = namesIn(brand).find((name) => name.endsWith(".part"));
          if (part === undefined || statSync(join(folderOf(brand), part)).size < half) return;
          clearInterval(timer);
          stop.abort(new Stopped("SIGINT"));
        }, 5);
      },
    });
    return new Response(body, { headers: response.headers });
  };
  const run = await download(brand, "", { signal: stop.signal, fetch });
  expect(run.code).toBe(130);
  expect(namesIn(brand)).toEqual([
    expect.stringMatching(/a\.jpg\.etag$/),
    expect.stringMatching(/a\.jpg\.part$/),
  ]);
  expect(brand.sql("SELECT * FROM content_downloads")).toEqual([]);

  const again = await download(brand);

  expect(again.asked.find((request) => fileOf(request))?.headers).toMatchObject({
    range: `bytes=${half}-`,
    "if-range": etagOf("a"),
  });
  expect(again.files[0]).toMatchObject({ resumed_from: half, bytes: size });
  for (const file of again.files) expect(isWhole(file)).toBe(true);
  expect(namesIn(brand)).toHaveLength(1);
});

const rest = { status: 206, body: "x" } as const;
test.each<[string, Fault]>([
  ["416", { status: 416 }],
  ["another range", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes 0-9/${size}` } }],
  ["no range", { ...rest, headers: { etag: etagOf("a") } }],
  ["another size", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes ${half}-9/10` } }],
  ["another ETag", { ...rest, headers: { etag: '"new"', "content-range": `bytes ${half}-9/${size}` } }],
  ["no ETag", { ...rest, headers: { "content-range": `bytes ${half}-9/${size}` } }],
])("requests the complete file if the file host answers the rest with %s", async (_, fault) => {
  const { brand, leave } = await damaged();
  leave(half);
  const asked = spoilFiles(brand, (_, count) => (count === 1 ? fault : undefined));
  const again = await download(brand);
  expect(asked.map(({ headers }) => headers.range)).toEqual([`bytes=${half}-`, undefined]);
  expect(again.files[0]).toMatchObject({ resumed_from: 0 });
  for (const file of again.files) expect(isWhole(file)).toBe(true);
  expect(namesIn(brand)).toHaveLength(1);
});

test("starts again if the file changed since it was interrupted, though its size is the same", async () => {
  const { brand, leave, path } = await damaged();
  leave(half, { validator: '"before"' });
  writeFileSync(`${path}.part`, Buffer.alloc(half, "old"));
  const again = await download(brand);
  const requests = again.asked.filter((request) => fileOf(request));
  expect(requests.map(({ headers, status }) => [headers["if-range"], status])).toEqual([['"before"', 200]]);
  expect(again.files[0]).toMatchObject({ resumed_from: 0 });
  for (const file of again.files) expect(isWhole(file)).toBe(true);
});

test("does not append to bytes whose version is unknown", async () => {
  const { brand, leave, path } = await damaged();
  leave(half);
  rmSync(`${path}.etag`);
  const again = await download(brand);
  expect(again.asked.find((request) => fileOf(request))?.headers.range).toBeUndefined();
  for (const file of again.files) expect(isWhole(file)).toBe(true);
});

test.each<[string, Record<string, string>, string | undefined]>([
  ["a strong ETag", { etag: '"v1"' }, '"v1"'],
  ["a weak ETag", { etag: 'W/"v1"' }, undefined],
  ["neither ETag nor Last-Modified", {}, undefined],
  ["a Last-Modified", { "last-modified": "Fri, 20 Nov 2026 10:00:00 GMT" }, "Fri, 20 Nov 2026 10:00:00 GMT"],
  ["a Last-Modified of this second", { "last-modified": "Sat, 21 Nov 2026 12:00:00 GMT" }, undefined],
])("with %s, a file that breaks off is resumed only if that identifies it", async (_, headers, ifRange) => {
  const brand = await libraryOf({ a: { file_size_bytes: 8 } });
  const dated = { date: "Sat, 21 Nov 2026 12:00:00 GMT", ...headers };
  const asked: Headers[] = [];
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    asked.push(new Headers(init?.headers));
    if (asked.at(-1)?.has("range"))
      return new Response("5678", { status: 206, headers: { ...dated, "content-range": "bytes 4-7/8" } });
    const whole = { headers: { ...dated, "content-length": "8" } };
    return new Response(asked.length === 1 ? "1234" : "12345678", whole);
  };
  const run = await download(brand, "", { fetch });
  expect(run.code).toBe(0);
  expect(asked.map((one) => one.get("if-range") ?? undefined)).toEqual([undefined, ifRange]);
  expect(readFileSync(run.files[0]?.path ?? "", "utf8")).toBe("12345678");
});

test("a complete partial file of a run that was killed before the rename needs no request", async () => {
  const { brand, leave } = await damaged();
  leave(size);
  const again = await download(brand);
  expect(again.asked.filter((request) => fileOf(request))).toEqual([]);
  for (const file of again.files) expect(isWhole(file)).toBe(true);
});

test("keeps a complete file whose size differs from the library's, and names both sizes once", async () => {
  const brand = await libraryOf({ a: { file_size_bytes: 1_033 }, b: {} });
  const body = "x".repeat(1_533);
  const asked = spoilFiles(brand, (id) =>
    id === "a" ? { body, headers: { "content-length": "1533" } } : undefined,
  );
  const run = await download(brand);
  expect(run).toMatchObject({ code: 0, summary: { downloaded: 2, failed: 0 } });
  expect(run.err).toMatch(/a\.jpg: the file has 1533 bytes, but the library says 1033; it was kept/);
  expect(run.err.match(/warning/g)).toHaveLength(1);
  expect(run.files[0]).toMatchObject({ bytes: 1_533, library_bytes: 1_033, error: null });
  expect(readFileSync(run.files[0]?.path ?? "", "utf8")).toBe(body);

  const again = await download(brand);
  expect(again).toMatchObject({ code: 0, summary: { downloaded: 0, already_complete: 2 } });
  expect(again.err).not.toContain("warning");
  expect(asked).toHaveLength(2);

  brand.change("content", "upload/a", { file_size_bytes: 1_034 });
  await brand.run("sync content --full");
  expect((await download(brand)).files).toMatchObject([{ id: "a", bytes: 1_533, library_bytes: 1_034 }]);
  brand.change("content", "upload/a", { file_size_bytes: 1_533 });
  await brand.run("sync content --full");
  expect((await download(brand)).summary).toMatchObject({ downloaded: 0, already_complete: 2 });
});

test("follows three redirects to https, without the key, and no more", async () => {
  const brand = await libraryOf({ a: {} });
  const asked: { url: string; headers: Headers }[] = [];
  const through = (count: number): typeof brand.fetch => {
    return async (url, init) => {
      if (!String(url).includes("/files/") && !String(url).includes("/hop/"))
        return await brand.fetch(url, init);
      asked.push({ url: String(url), headers: new Headers(init?.headers) });
      if (asked.length > count)
        return new Response("x".repeat(2_000), { headers: { "content-length": "2000" } });
      const location =
        asked.length === 1 ? "https://cdn.test/hop/1?signature=s" : `${asked.length}?signature=s`;
      return new Response("", {
        status: [301, 302, 307, 308][asked.length % 4] ?? 302,
        headers: { location },
      });
    };
  };
  expect((await download(brand, "", { fetch: through(3) })).summary).toMatchObject({ downloaded: 1 });
  expect(asked.map(({ url }) => url).slice(1)).toEqual([
    "https://cdn.test/hop/1?signature=s",
    "https://cdn.test/hop/2?signature=s",
    "https://cdn.test/hop/3?signature=s",
  ]);
  for (const { headers } of asked) expect(JSON.stringify([...headers])).not.toContain(brand.key);
  brand.change("content", "upload/a", { file_size_bytes: 2_001 });
  await brand.run("sync content --full");
  asked.length = 0;
  const run = await download(brand, "", { fetch: through(4) });
  expect(run.files[0]?.error).toBe("the file host redirects it more than 3 times");
  expect(run.err).not.toContain("signature");
});

test.each([
  ["http://cdn.test/x?signature=stolen", "its download URL is not https"],
  ["http://127.0.0.1/x?signature=stolen", "its download URL is not https"],
  ["https://user:secret@cdn.test/x", "its download URL holds a user name or password"],
  ["ftp://cdn.test/x", "its download URL is not https"],
  ["", "no address is given"],
])("a redirect to %j is not followed", async (location, reason) => {
  const brand = await libraryOf({ a: {} });
  const asked = spoilFiles(brand, () => ({ status: 302, headers: { location } }));
  const run = await download(brand);
  expect(run.files[0]?.error).toBe(`the file host redirects it (302), which is refused: ${reason}`);
  expect(asked).toHaveLength(1);
  expect(run.asked.filter(({ path }) => path === "/x")).toEqual([]);
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
  ["redirects", 1, { status: 302, headers: { location: "http://elsewhere.test/signature=stolen" } }],
  ["answers with a strange status", 1, { status: 418 }],
  ["always sends a shorter file", 3, { body: "short" }],
  ["sends less than it states", 3, { body: "short", headers: { "content-length": "7" } }],
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
    expect(run.err).toContain("1 of 2 files were not downloaded.");
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
  const part = await PartialFile.open(join(makeHome(), "file"));
  const limits: number[] = [];
  const host = {
    fetch: async () => new Response(new ReadableStream()),
    signal: new AbortController().signal,
    userAgent: "test",
    baseUrl: "https://brand.test/api/brand/v1",
    maxWaitMs: 60_000,
    later(ms: number, call: () => void) {
      limits.push(ms);
      setImmediate(call);
      return () => {};
    },
  };
  const url = new URL("https://files.test/x?signature=secret");
  const ended = transfer(url, part, 64_000_000, host);
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
  expect(run.err).toContain("run `brandapi sync content` to update the list of files");
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
