import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { transfer } from "../../src/download/download-file.js";
import { PartialFile } from "../../src/download/partial-file.js";
import { Stopped } from "../../src/errors.js";
import { makeBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { makeHome } from "../support/home.js";
import {
  brandWithFiles,
  download,
  failFileRequests,
  isComplete,
  listFolder,
  outputFolder,
  requestedFile,
  size,
} from "./support.js";

const half = size / 2;
const big = { file_size_bytes: size };

/**
 * Returns a brand with one file that was downloaded and then damaged. `leavePartial` creates the partial file that an
 * interrupted run would leave behind.
 */
async function brandWithDamagedFile() {
  const brand = await brandWithFiles({ a: big });
  const { files } = await download(brand);
  const path = files[0]?.path ?? "";
  const bytes = readFileSync(path);
  writeFileSync(path, "damaged");
  const version = { header: "etag", validator: etagOf("a"), length: size };
  const leavePartial = (count: number, change: object = {}) => {
    writeFileSync(`${path}.part`, bytes.subarray(0, count));
    writeFileSync(`${path}.etag`, JSON.stringify({ ...version, ...change }));
  };
  return { brand, path, leavePartial };
}

function etagOf(id: string): string {
  const digest = createHash("sha256").update(`upload/${id}/${size}`).digest("hex");
  return `"${digest.slice(0, 32)}"`;
}

test("an interrupted download leaves a partial file, and the next run downloads only the missing bytes", async () => {
  const brand = await brandWithFiles({ a: big });
  const stop = new AbortController();
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    const response = await brand.fetch(url, init);
    const bytes = await buffer(response.body as AsyncIterable<Uint8Array>);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(bytes.subarray(0, half)));
        const timer = setInterval(() => {
          const part = listFolder(brand).find((name) => name.endsWith(".part"));
          if (part === undefined || statSync(join(outputFolder(brand), part)).size < half) return;
          clearInterval(timer);
          stop.abort(new Stopped("SIGINT"));
        }, 5);
      },
    });
    return { ...response, body };
  };
  const run = await download(brand, "", { signal: stop.signal, fetch });
  expect(run.code).toBe(130);
  expect(listFolder(brand)).toEqual([
    expect.stringMatching(/a\.jpg\.etag$/),
    expect.stringMatching(/a\.jpg\.part$/),
  ]);
  expect(brand.sql("SELECT * FROM content_downloads")).toEqual([]);

  const again = await download(brand);

  expect(again.requests.find((request) => requestedFile(request))?.headers).toMatchObject({
    range: `bytes=${half}-`,
    "if-range": etagOf("a"),
  });
  expect(again.files[0]).toMatchObject({ resumed_from: half, bytes: size });
  for (const file of again.files) expect(isComplete(file)).toBe(true);
  expect(listFolder(brand)).toHaveLength(1);
});

const rest = { status: 206, body: "x" } as const;
test.each<[string, Fault]>([
  ["416", { status: 416 }],
  ["a different range", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes 0-9/${size}` } }],
  ["no range", { ...rest, headers: { etag: etagOf("a") } }],
  ["a different size", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes ${half}-9/10` } }],
  ["a different ETag", { ...rest, headers: { etag: '"new"', "content-range": `bytes ${half}-9/${size}` } }],
  ["no ETag", { ...rest, headers: { "content-range": `bytes ${half}-9/${size}` } }],
])(
  "the complete file is downloaded if the file host responds to a range request with %s",
  async (_, fault) => {
    const { brand, leavePartial } = await brandWithDamagedFile();
    leavePartial(half);
    const requests = failFileRequests(brand, (_, count) => (count === 1 ? fault : undefined));
    const again = await download(brand);
    expect(requests.map(({ headers }) => headers.range)).toEqual([`bytes=${half}-`, undefined]);
    expect(again.files[0]).toMatchObject({ resumed_from: 0 });
    for (const file of again.files) expect(isComplete(file)).toBe(true);
    expect(listFolder(brand)).toHaveLength(1);
  },
);

test("a download restarts from the first byte if the file has changed, even if the size is the same", async () => {
  const { brand, leavePartial, path } = await brandWithDamagedFile();
  leavePartial(half, { validator: '"before"' });
  writeFileSync(`${path}.part`, Buffer.alloc(half, "old"));
  const again = await download(brand);
  const requests = again.requests.filter((request) => requestedFile(request));
  expect(requests.map(({ headers, status }) => [headers["if-range"], status])).toEqual([['"before"', 200]]);
  expect(again.files[0]).toMatchObject({ resumed_from: 0 });
  for (const file of again.files) expect(isComplete(file)).toBe(true);
});

test("a download does not resume a partial file whose version is unknown", async () => {
  const { brand, leavePartial, path } = await brandWithDamagedFile();
  leavePartial(half);
  rmSync(`${path}.etag`);
  const again = await download(brand);
  expect(again.requests.find((request) => requestedFile(request))?.headers.range).toBeUndefined();
  for (const file of again.files) expect(isComplete(file)).toBe(true);
});

test.each<[string, string, Record<string, string>, string | undefined]>([
  ["a strong ETag", "is resumed", { etag: '"v1"' }, '"v1"'],
  ["a weak ETag", "is downloaded again from the start", { etag: 'W/"v1"' }, undefined],
  ["neither ETag nor Last-Modified", "is downloaded again from the start", {}, undefined],
  [
    "a Last-Modified before its Date",
    "is resumed",
    { "last-modified": "Fri, 20 Nov 2026 10:00:00 GMT" },
    "Fri, 20 Nov 2026 10:00:00 GMT",
  ],
  [
    "a Last-Modified equal to its Date",
    "is downloaded again from the start",
    { "last-modified": "Sat, 21 Nov 2026 12:00:00 GMT" },
    undefined,
  ],
])("a partial file from a response with %s %s", async (_label, _outcome, headers, ifRange) => {
  const brand = await brandWithFiles({ a: { file_size_bytes: 8 } });
  const dated = { date: "Sat, 21 Nov 2026 12:00:00 GMT", ...headers };
  const requests: Headers[] = [];
  const fetch: typeof brand.fetch = async (url, init) => {
    if (!String(url).includes("/files/")) return await brand.fetch(url, init);
    requests.push(new Headers(init?.headers));
    if (requests.at(-1)?.has("range"))
      return new Response("5678", { status: 206, headers: { ...dated, "content-range": "bytes 4-7/8" } });
    const complete = { headers: { ...dated, "content-length": "8" } };
    return new Response(requests.length === 1 ? "1234" : "12345678", complete);
  };
  const run = await download(brand, "", { fetch });
  expect(run.code).toBe(0);
  expect(requests.map((one) => one.get("if-range") ?? undefined)).toEqual([undefined, ifRange]);
  expect(readFileSync(run.files[0]?.path ?? "", "utf8")).toBe("12345678");
});

test("if a run is killed between downloading the last byte and renaming the file, the next run needs no request for the file", async () => {
  const { brand, leavePartial } = await brandWithDamagedFile();
  leavePartial(size);
  const again = await download(brand);
  expect(again.requests.filter((request) => requestedFile(request))).toEqual([]);
  for (const file of again.files) expect(isComplete(file)).toBe(true);
});

test("a complete file whose size differs from the library's is kept, and both sizes are reported once", async () => {
  const brand = await brandWithFiles({ a: { file_size_bytes: 1_033 }, b: {} });
  const body = "x".repeat(1_533);
  const requests = failFileRequests(brand, (id) =>
    id === "a" ? { body, headers: { "content-length": "1533" } } : undefined,
  );
  const run = await download(brand);
  expect(run).toMatchObject({ code: 0, summary: { downloaded: 2, failed: 0 } });
  expect(run.err).toMatch(
    /a\.jpg: the file has 1533 bytes, but according to the library it should have 1033; the file was kept/,
  );
  expect(run.err.match(/warning/g)).toHaveLength(1);
  expect(run.files[0]).toMatchObject({ bytes: 1_533, library_bytes: 1_033, error: null });
  expect(readFileSync(run.files[0]?.path ?? "", "utf8")).toBe(body);

  const again = await download(brand);
  expect(again).toMatchObject({ code: 0, summary: { downloaded: 0, already_complete: 2 } });
  expect(again.err).not.toContain("warning");
  expect(requests).toHaveLength(2);

  brand.change("content", "upload/a", { file_size_bytes: 1_034 });
  await brand.run("sync content --full");
  expect((await download(brand)).files).toMatchObject([{ id: "a", bytes: 1_533, library_bytes: 1_034 }]);
  brand.change("content", "upload/a", { file_size_bytes: 1_533 });
  await brand.run("sync content --full");
  expect((await download(brand)).summary).toMatchObject({ downloaded: 0, already_complete: 2 });
});

test("a download follows up to three redirects to https without sending the key", async () => {
  const brand = await brandWithFiles({ a: {} });
  const requests: { url: string; headers: Headers }[] = [];
  const through = (count: number): typeof brand.fetch => {
    return async (url, init) => {
      if (!String(url).includes("/files/") && !String(url).includes("/hop/"))
        return await brand.fetch(url, init);
      requests.push({ url: String(url), headers: new Headers(init?.headers) });
      if (requests.length > count)
        return new Response("x".repeat(2_000), { headers: { "content-length": "2000" } });
      const location =
        requests.length === 1 ? "https://cdn.test/hop/1?signature=s" : `${requests.length}?signature=s`;
      return new Response("", {
        status: [301, 302, 307, 308][requests.length % 4] ?? 302,
        headers: { location },
      });
    };
  };
  expect((await download(brand, "", { fetch: through(3) })).summary).toMatchObject({ downloaded: 1 });
  expect(requests.map(({ url }) => url).slice(1)).toEqual([
    "https://cdn.test/hop/1?signature=s",
    "https://cdn.test/hop/2?signature=s",
    "https://cdn.test/hop/3?signature=s",
  ]);
  for (const { headers } of requests) expect(JSON.stringify([...headers])).not.toContain(brand.key);
  brand.change("content", "upload/a", { file_size_bytes: 2_001 });
  await brand.run("sync content --full");
  requests.length = 0;
  const run = await download(brand, "", { fetch: through(4) });
  expect(run.files[0]?.error).toContain("more than 3 times");
  expect(run.err).not.toContain("signature");
});

test.each([
  ["http://cdn.test/x?signature=stolen", "is not https"],
  ["http://127.0.0.1/x?signature=stolen", "is not https"],
  ["https://user:secret@cdn.test/x", "contains a user name or password"],
  ["ftp://cdn.test/x", "is not https"],
  ["", "is missing"],
])("a download does not follow a redirect to %j", async (location, problem) => {
  const brand = await brandWithFiles({ a: {} });
  const requests = failFileRequests(brand, () => ({ status: 302, headers: { location } }));
  const run = await download(brand);
  expect(run.files[0]?.error).toContain(problem);
  expect(requests).toHaveLength(1);
  expect(run.requests.filter(({ path }) => path === "/x")).toEqual([]);
});

test("before each retry, a download waits and requests a new signed URL", async () => {
  const brand = await brandWithFiles({ a: {} });
  const requests = failFileRequests(brand, (_, count) =>
    count < 3 ? { status: count === 1 ? 503 : 403 } : undefined,
  );
  const before = brand.now();
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(new Set(requests.map(({ query }) => JSON.stringify(query))).size).toBe(3);
  expect(run.requests.filter(({ path }) => path.endsWith("/download"))).toHaveLength(3);
  expect(brand.now() - before).toBeGreaterThan(3_000);
});

test("a download obeys the file host's `Retry-After` up to `--max-wait`", async () => {
  const waited = async (seconds: string) => {
    const brand = await brandWithFiles({ a: {} });
    failFileRequests(brand, (_, count) =>
      count === 1 ? { status: 429, headers: { "retry-after": seconds } } : undefined,
    );
    const before = brand.now();
    expect((await download(brand, "--max-wait 5m")).summary).toMatchObject({ downloaded: 1 });
    return Math.round((brand.now() - before) / 60_000);
  };
  expect(await waited("120")).toBe(2);
  expect(await waited("86400")).toBe(5);
});

test.each<[string, string, Fault]>([
  ["rejects every URL", "three attempts", { status: 403 }],
  ["does not have the file", "one attempt", { status: 404 }],
  [
    "redirects to plain http",
    "one attempt",
    { status: 302, headers: { location: "http://elsewhere.test/signature=stolen" } },
  ],
  ["returns an undocumented status", "one attempt", { status: 418 }],
  ["always sends a shorter file", "three attempts", { body: "short" }],
  [
    "sends less than its Content-Length",
    "three attempts",
    { body: "short", headers: { "content-length": "7" } },
  ],
  ["never stops sending", "three attempts", "endless"],
  ["resets the connection", "three attempts", "reset"],
])(
  "if the file host %s, only the affected file fails after %s, and no partial file remains",
  async (_, attempts, fault) => {
    const brand = await brandWithFiles({ bad: {}, good: {} });
    const requests = failFileRequests(brand, (id) => (id === "bad" ? fault : undefined));
    const run = await download(brand, "--verbose");
    expect(run.code).toBe(8);
    expect(run.summary).toMatchObject({ downloaded: 1, failed: 1, not_tried: 0 });
    expect(run.files[0]).toMatchObject({ id: "bad", outcome: "failed", error: expect.stringMatching(/\w/) });
    expect(run.err).toContain("1 of 2 files was not downloaded.");
    expect(requests.filter((request) => requestedFile(request) === "bad")).toHaveLength(
      attempts === "one attempt" ? 1 : 3,
    );
    expect(listFolder(brand)).toEqual([expect.stringMatching(/good\.jpg$/)]);
    // Neither a signed URL nor the key may be printed or stored.
    const stored = readdirSync(brand.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    for (const text of [run.out, run.err, ...stored]) {
      expect(text).not.toMatch(/signature=|files\.brand\.test/);
      expect(text).not.toContain(brand.key);
    }
  },
);

test("a stalled download is aborted after a timeout", async () => {
  const part = await PartialFile.open(join(makeHome(), "file"));
  const timeouts: number[] = [];
  const host = {
    fetch: async () => new Response(new ReadableStream()),
    signal: new AbortController().signal,
    userAgent: "test",
    baseUrl: "https://brand.test/api/brand/v1",
    maxWaitMs: 60_000,
    setTimer(ms: number, call: () => void) {
      timeouts.push(ms);
      setImmediate(call);
      return () => {};
    },
  };
  const url = new URL("https://files.test/x?signature=secret");
  const ended = transfer(url, part, 64_000_000, host);
  await expect(ended).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("timed out"),
  });
  expect(timeouts).toEqual([60_000 + 1_000_000]);
  await part.close();
});

test("a file of unknown size is downloaded but never resumed", async () => {
  const brand = await brandWithFiles({ a: { file_size_bytes: null } });
  const requests = failFileRequests(brand, (_, count) => (count === 1 ? "cut" : undefined));
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  expect(isComplete(run.files[0] ?? ({} as never), run.files[0]?.bytes ?? 0)).toBe(true);
});

test("the run ends after a few failed files if the file host is down", async () => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, {}])));
  failFileRequests(brand, () => "reset");
  const run = await download(brand);
  expect(run.code).toBe(6);
  const { failed, not_tried } = run.summary ?? {};
  expect(failed).toBeLessThanOrEqual(7);
  expect(Number(failed) + Number(not_tried)).toBe(12);
  expect(listFolder(brand)).toEqual([]);
});

test("file host failures do not end the run if other files succeed in between", async () => {
  const ids = Array.from({ length: 9 }, (_, n) => `f${n}`);
  const brand = await brandWithFiles(Object.fromEntries(ids.map((id) => [id, {}])));
  let resets = 0;
  const fetch: typeof brand.fetch = async (url, init) => {
    const id = /\/files\/\w+\/(f\d)/.exec(String(url))?.[1];
    if (id === undefined || id === "f8") return await brand.fetch(url, init);
    if (id === "f3" || id === "f7") {
      // Each failed file was tried three times.
      await expect.poll(() => resets).toBe(id === "f3" ? 9 : 18);
      return await brand.fetch(url, init);
    }
    if (id > "f3")
      await expect.poll(() => listFolder(brand)).toContainEqual(expect.stringMatching(/f3\.jpg$/));
    resets += 1;
    throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
  };
  const { summary } = await download(brand, "", { fetch });
  expect(summary).toMatchObject({ downloaded: 3, failed: 6, not_tried: 0 });
});

test("a file that has been removed from the library fails to download without affecting other files", async () => {
  const brand = await brandWithFiles({ a: {}, b: {} });
  brand.remove("content", "upload/a");
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1, failed: 1 });
  expect(run.files[0]?.error).toContain("404");
  expect(run.err).toContain("run `brandapi sync content` to update the list of files");
});

test.each([
  ["http://files.brand.test/x", "is not https"],
  ["https://user:secret@files.brand.test/x", "contains a user name or password"],
  [7, "is missing"],
])("a download does not request the URL %j", async (url, problem) => {
  const brand = await brandWithFiles({ a: {} });
  brand.before = ({ path }) =>
    path.endsWith("/download") ? { envelope: (whole) => ({ ...whole, data: { url } }) } : undefined;
  const run = await download(brand);
  expect(run.files[0]?.error).toBe(`its download URL ${problem}`);
  expect(run.requests.filter(({ path }) => path === "/x")).toEqual([]);
});

test.each([
  [401, 4],
  [503, 6],
])("HTTP %i from the API makes the download fail with exit code %i", async (status, code) => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`f${n}`, {}])));
  brand.before = ({ path }) => (path.endsWith("/download") ? { status } : undefined);
  const run = await download(brand, "--max-wait 1s");
  expect(run).toMatchObject({ code, summary: undefined });
});

test("`download content` names the command to run first if the library has never been synced", async () => {
  const run = await makeBrand().run("download content");
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("`brandapi sync content") });
});
