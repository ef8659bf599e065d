import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { HttpResponse } from "../../src/deps.js";
import { type DownloadFailure, transfer } from "../../src/download/download-file.js";
import { PartialFile } from "../../src/download/partial-file.js";
import { Stopped } from "../../src/errors.js";
import { fileBytes } from "../../src/sandbox/file-host.js";
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
    "accept-encoding": "identity",
    "user-agent": expect.stringMatching(/^brandapi\//),
  });
  expect(again.files[0]).toMatchObject({ resumed_from: half, bytes: size });
  expect(again.files.map((file) => isComplete(file))).toEqual([true]);
  expect(listFolder(brand)).toHaveLength(1);
});

const rest = { status: 206, body: "x" } as const;
test.each<[string, Fault]>([
  ["HTTP 416", { status: 416 }],
  ["a different range", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes 0-9/${size}` } }],
  ["no range", { ...rest, headers: { etag: etagOf("a") } }],
  ["a different size", { ...rest, headers: { etag: etagOf("a"), "content-range": `bytes ${half}-9/10` } }],
  ["a different ETag", { ...rest, headers: { etag: '"new"', "content-range": `bytes ${half}-9/${size}` } }],
  ["no ETag", { ...rest, headers: { "content-range": `bytes ${half}-9/${size}` } }],
  [
    "compressed bytes",
    {
      ...rest,
      headers: { etag: etagOf("a"), "content-range": `bytes ${half}-9/${size}`, "content-encoding": "gzip" },
    },
  ],
])(
  "the complete file is downloaded if the file host answers a request for the missing bytes with %s",
  async (_, fault) => {
    const { brand, leavePartial } = await brandWithDamagedFile();
    leavePartial(half);
    const requests = failFileRequests(brand, (_, count) => (count === 1 ? fault : undefined));
    const again = await download(brand);
    expect(requests.map(({ headers }) => headers.range)).toEqual([`bytes=${half}-`, undefined]);
    expect(again.files[0]).toMatchObject({ resumed_from: 0 });
    expect(again.files.map((file) => isComplete(file))).toEqual([true]);
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
  expect(again.files.map((file) => isComplete(file))).toEqual([true]);
});

const validVersion = { header: "etag", validator: '"v1"', length: size };
test.each([
  ["is missing", null],
  ["is not JSON", "{"],
  ["contains null", "null"],
  ["contains an empty object", "{}"],
  ["names an unknown header", JSON.stringify({ ...validVersion, header: "range" })],
  ["contains a number instead of an ETag or date", JSON.stringify({ ...validVersion, validator: 1 })],
  ["contains the length as a string", JSON.stringify({ ...validVersion, length: String(size) })],
])(
  "a partial file is downloaded again from the start if the file that records its version %s",
  async (_, version) => {
    const { brand, leavePartial, path } = await brandWithDamagedFile();
    leavePartial(half);
    rmSync(`${path}.etag`);
    if (version !== null) writeFileSync(`${path}.etag`, version);
    const again = await download(brand);
    expect(again.requests.find((request) => requestedFile(request))?.headers.range).toBeUndefined();
    expect(again.files.map((file) => isComplete(file))).toEqual([true]);
  },
);

test("the next run resumes a partial file whose version is identified by a Last-Modified header", async () => {
  const { brand, leavePartial } = await brandWithDamagedFile();
  const validator = "Fri, 20 Nov 2026 10:00:00 GMT";
  leavePartial(half, { header: "last-modified", validator });
  const headers = { "last-modified": validator, "content-range": `bytes ${half}-${size - 1}/*` };
  const body = fileBytes("a", half, size);
  const requests = failFileRequests(brand, () => ({ status: 206, headers, body: body as never }));
  const again = await download(brand);
  expect(requests.map((request) => request.headers["if-range"])).toEqual([validator]);
  expect(again.files[0]).toMatchObject({ resumed_from: half });
  expect(again.files.map((file) => isComplete(file))).toEqual([true]);
});

test("a retry resumes after the bytes that the previous attempt received, or starts at the first byte if that attempt received none", async () => {
  const brand = await brandWithFiles({ a: big });
  const headers = { etag: etagOf("a"), "content-length": String(size) };
  const bytes = (count: number) => fileBytes("a", 0, count);
  const requests = failFileRequests(brand, (_, count) =>
    count < 3 ? { body: bytes(count === 1 ? 0 : half), headers } : undefined,
  );
  const { files } = await download(brand);
  expect(requests.map((request) => request.headers.range)).toEqual([undefined, undefined, `bytes=${half}-`]);
  expect(files[0]).toMatchObject({ resumed_from: 0 });
  expect(files.map((file) => isComplete(file))).toEqual([true]);
});

test.each<[string, string, Record<string, string>, string | undefined]>([
  ["a strong ETag", "is resumed", { etag: '"v-1"' }, '"v-1"'],
  [
    "a weak ETag",
    "is downloaded again from the start",
    { etag: 'W/"v1"', "last-modified": "Fri, 20 Nov 2026 10:00:00 GMT" },
    undefined,
  ],
  ["neither ETag nor Last-Modified", "is downloaded again from the start", {}, undefined],
  [
    "a Last-Modified 60 seconds before its Date",
    "is resumed",
    { "last-modified": "Sat, 21 Nov 2026 11:59:00 GMT" },
    "Sat, 21 Nov 2026 11:59:00 GMT",
  ],
  [
    "a Last-Modified 59 seconds before its Date",
    "is downloaded again from the start",
    { "last-modified": "Sat, 21 Nov 2026 11:59:01 GMT" },
    undefined,
  ],
  [
    "a Last-Modified but no Date",
    "is downloaded again from the start",
    { "last-modified": "Fri, 20 Nov 2026 10:00:00 GMT", date: "" },
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

test("if a run is killed between downloading the last byte and renaming the file, the next run completes the file without requesting it again", async () => {
  const { brand, leavePartial } = await brandWithDamagedFile();
  leavePartial(size);
  const again = await download(brand);
  expect(again.requests.filter((request) => requestedFile(request))).toEqual([]);
  expect(again.files.map((file) => isComplete(file))).toEqual([true]);
});

test.each([
  ["the library reports a larger size than the file host", half, half, undefined],
  ["the file host reports a larger size than the library", size, 2 * size, `bytes=${size}-`],
])("a partial file is not considered complete if %s", async (_, count, length, range) => {
  const { brand, leavePartial } = await brandWithDamagedFile();
  leavePartial(count, { length });
  const again = await download(brand);
  expect(again.requests.find((request) => requestedFile(request))?.headers.range).toBe(range);
  expect(again.files.map((file) => isComplete(file))).toEqual([true]);
});

test("a complete file whose size differs from its size in the library is kept, and both sizes are reported once", async () => {
  const brand = await brandWithFiles({ a: { file_size_bytes: 1_033 }, b: {} });
  const body = "x".repeat(1_533);
  const requests = failFileRequests(brand, (id) =>
    id === "a" ? { body, headers: { "content-length": "1533" } } : undefined,
  );
  const run = await download(brand);
  expect(run).toMatchObject({ code: 0, summary: { downloaded: 2, failed: 0 } });
  expect(run.err).toMatch(
    /a\.jpg: the file is 1533 bytes long, but the library reports 1033 bytes; the file was kept/,
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

test("a download follows up to three redirects to https URLs without sending the API key", async () => {
  const brand = await brandWithFiles({ a: {} });
  const requests: { url: string; headers: Headers }[] = [];
  const statuses = [301, 302, 303, 307, 308, 301, 302];
  let redirect: AbortSignal | undefined;
  const through = (count: number): typeof brand.fetch => {
    return async (url, init) => {
      if (!String(url).includes("/files/") && !String(url).includes("/hop/"))
        return await brand.fetch(url, init);
      // The connection that returned the previous redirect must be closed by now.
      expect(redirect?.aborted).not.toBe(false);
      redirect = init?.signal;
      requests.push({ url: String(url), headers: new Headers(init?.headers) });
      if (requests.length > count)
        return new Response("x".repeat(2_000), { headers: { "content-length": "2000" } });
      const location =
        requests.length === 1 ? "https://cdn.test/hop/1?signature=s" : `${requests.length}?signature=s`;
      return new Response("", { status: statuses.shift() ?? 302, headers: { location } });
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
  ["to http://cdn.test/x?signature=stolen", "is not https", "http://cdn.test/x?signature=stolen"],
  ["to http://127.0.0.1/x?signature=stolen", "is not https", "http://127.0.0.1/x?signature=stolen"],
  ["to https://user:secret@cdn.test/x", "contains a username or password", "https://user:secret@cdn.test/x"],
  ["to ftp://cdn.test/x", "is not https", "ftp://cdn.test/x"],
  ["to https://[", "is invalid", "https://["],
  ["with an empty Location", "is missing", ""],
])("a redirect from the file host %s is not followed, because the URL %s", async (_, problem, location) => {
  const brand = await brandWithFiles({ a: {} });
  const requests = failFileRequests(brand, () => ({ status: 302, headers: { location } }));
  const run = await download(brand);
  expect(run.files[0]?.error).toContain(problem);
  expect(requests).toHaveLength(1);
  expect(run.requests.filter(({ path }) => path === "/x")).toEqual([]);
});

test.each([
  ["at least 0.5 and 2.5 seconds", 0, [500, 2_500]],
  ["1 and 5 seconds on average", 0.5, [1_000, 5_000]],
  ["at most 1.5 and 7.5 seconds", 1, [1_500, 7_500]],
])("a download is retried twice with new signed URLs, after waits of %s", async (_, number, expected) => {
  const brand = await brandWithFiles({ a: {} });
  const requests = failFileRequests(brand, (_, count) =>
    count < 3 ? { status: count === 1 ? 503 : 403 } : undefined,
  );
  const waits: number[] = [];
  const clock = { ...brand.clock, sleep: async (ms: number) => void waits.push(ms) };
  const run = await download(brand, "", { clock, random: () => number });
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(new Set(requests.map(({ query }) => JSON.stringify(query))).size).toBe(3);
  expect(run.requests.filter(({ path }) => path.endsWith("/download"))).toHaveLength(3);
  expect(waits).toEqual(expected);
});

test("Ctrl-C during the wait before a retry stops the download immediately", async () => {
  const brand = await brandWithFiles({ a: {} });
  failFileRequests(brand, () => ({ status: 503 }));
  const stop = new AbortController();
  const sleep = async (_: number, signal?: AbortSignal) => {
    stop.abort(new Stopped("SIGINT"));
    signal?.throwIfAborted();
    throw new Error("the wait continues");
  };
  const run = await download(brand, "", { signal: stop.signal, clock: { ...brand.clock, sleep } });
  expect([run.code, run.files]).toEqual([130, []]);
});

test("a file whose last download attempt is interrupted by Ctrl-C does not count as failed", async () => {
  const brand = await brandWithFiles({ a: {} });
  const stop = new AbortController();
  failFileRequests(brand, (_, count) => {
    if (count === 3) stop.abort(new Stopped("SIGINT"));
    return "reset";
  });
  const run = await download(brand, "", { signal: stop.signal });
  expect([run.code, run.files]).toEqual([130, []]);
});

test("a download honors the file host's `Retry-After` up to `--max-wait`", async () => {
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

test.each<[string, string, Fault, string]>([
  ["rejects every URL", "three attempts", { status: 403 }, "rejected the download URL (403)"],
  ["does not have the file", "one attempt", { status: 404 }, "does not have the file"],
  [
    "redirects to an http URL",
    "one attempt",
    { status: 302, headers: { location: "http://elsewhere.test/signature=stolen" } },
    "redirected (302) to a URL that is not https",
  ],
  ["returns an undocumented status", "one attempt", { status: 418 }, "returned HTTP 418"],
  [
    "always sends a file that is shorter than expected",
    "three attempts",
    { body: "short" },
    "only part of the file",
  ],
  [
    "sends less than its Content-Length",
    "three attempts",
    { body: "short", headers: { "content-length": "7" } },
    "only part of the file",
  ],
  [
    "sends a length and an ETag but no bytes",
    "three attempts",
    { body: "", headers: { "content-length": "7", etag: '"v1"' } },
    "only part of the file",
  ],
  ["never stops sending", "three attempts", "endless", "sent 65536 bytes instead of 2000"],
  ["resets the connection", "three attempts", "reset", "the file host: the connection"],
])(
  "if the file host %s, the file's download fails after %s, leaves no partial file, and does not affect other files",
  async (_, attempts, fault, reason) => {
    const brand = await brandWithFiles({ bad: {}, good: {} });
    const requests = failFileRequests(brand, (id) => (id === "bad" ? fault : undefined));
    const run = await download(brand, "--verbose");
    expect(run.code).toBe(8);
    expect(run.summary).toMatchObject({ downloaded: 1, failed: 1, not_tried: 0 });
    expect(run.files[0]).toMatchObject({
      id: "bad",
      outcome: "failed",
      error: expect.stringContaining(reason),
    });
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

const minute = 60_000;

/** Transfers a file from a file host that is simulated by `fetch`. Records the timeouts that were started. */
async function transferFrom(
  fetch: () => Promise<HttpResponse>,
  { size, onTimer = () => {} }: { size: number | null; onTimer?: (call: () => void) => unknown },
) {
  const part = await PartialFile.open(join(makeHome(), "file"));
  const timeouts: number[] = [];
  let running = 0;
  let signal: AbortSignal | undefined;
  const error = await transfer(new URL("https://files.test/x?signature=secret"), part, size, {
    fetch: (_, options) => {
      signal = options?.signal;
      return fetch();
    },
    signal: new AbortController().signal,
    userAgent: "test",
    baseUrl: "https://brand.test/api/brand/v1",
    maxWaitMs: minute,
    setTimer(ms, call) {
      timeouts.push(ms);
      running += 1;
      onTimer(call);
      return () => {
        running -= 1;
      };
    },
  }).then(
    () => null,
    (error: DownloadFailure) => error,
  );
  await part.close();
  // No timer is running, and no connection is open.
  expect([running, signal?.aborted]).toEqual([0, true]);
  return { error, timeouts, bytesWritten: part.bytesWritten };
}

const respondWith =
  (headers: Record<string, string>, body: string | ReadableStream | null = "", status = 200) =>
  async () =>
    new Response(body, { status, headers });

test.each<[string, () => Promise<HttpResponse>]>([
  ["no response", () => new Promise(() => {})],
  ["only the start of the body", respondWith({}, new ReadableStream())],
])("a download is aborted after a timeout if the file host sends %s", async (_, fetch) => {
  const { error } = await transferFrom(fetch, { size: 64_000_000, onTimer: setImmediate });
  expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining("timed out") });
});

test.each([
  ["--max-wait plus a second for every 64 kB of the file", 64_000_000, {}, [minute + 1_000_000]],
  [
    "increased if the file host reports a larger size than the library",
    64_000_000,
    { "content-length": "128000000" },
    [minute + 1_000_000, minute + 2_000_000],
  ],
  [
    "not reduced if the file host reports a smaller size than the library",
    64_000_000,
    { "content-length": "64000" },
    [minute + 1_000_000],
  ],
  ["a day if the size is unknown", null, {}, [24 * 60 * minute]],
])("a download's timeout is %s", async (_, size, headers: Record<string, string>, expected) => {
  expect((await transferFrom(respondWith(headers), { size })).timeouts).toEqual(expected);
});

const limit = 16 * 2 ** 30;
test.each([
  [
    "a file of unknown size is rejected if the file host reports more than 16 GiB",
    null,
    limit + 1,
    "larger than 17179869184 bytes",
    "permanent",
  ],
  [
    "a file of unknown size is accepted if the file host reports exactly 16 GiB",
    null,
    limit,
    "only part",
    "retryable",
  ],
  [
    "a file is accepted if the library and the file host both report more than 16 GiB",
    limit + 1,
    limit + 1,
    "only part",
    "retryable",
  ],
])("%s", async (_, size, length, message, kind) => {
  const { error } = await transferFrom(respondWith({ "content-length": String(length) }, "x"), { size });
  expect(error).toMatchObject({ kind, message: expect.stringContaining(message) });
});

test("the download of a file of unknown size fails if the file is larger than 16 GiB", async () => {
  const chunk = { byteLength: limit + 1 } as Uint8Array;
  const response = { status: 200, headers: new Headers(), body: Readable.from([chunk]) };
  const { error } = await transferFrom(async () => response, { size: null });
  expect(error).toMatchObject({
    kind: "permanent",
    message: expect.stringContaining("the file is larger than"),
  });
});

test("a file that is longer than its Content-Length is downloaded again from the start", async () => {
  const headers = new Headers({ "content-length": "4", etag: '"v1"' });
  const response = { status: 200, headers, body: Readable.from([Buffer.from("1234"), Buffer.from("5")]) };
  const { error } = await transferFrom(async () => response, { size: 4 });
  expect(error).toMatchObject({ kind: "restart", message: expect.stringContaining("5 bytes instead of 4") });
});

test("a file without a Content-Length is accepted if its size is unknown", async () => {
  expect(await transferFrom(respondWith({}, "1234"), { size: null })).toMatchObject({
    error: null,
    bytesWritten: 4,
  });
});

test("a compressed response is accepted even though its Content-Length differs from the file's size", async () => {
  const headers = { "content-length": "4", "content-encoding": "gzip" };
  expect(await transferFrom(respondWith(headers, "12345678"), { size: 8 })).toMatchObject({
    error: null,
    bytesWritten: 8,
  });
});

test.each([
  [401, "is retried with a new download URL", "retryable"],
  [403, "is retried with a new download URL", "retryable"],
  [410, "is retried with a new download URL", "retryable"],
  [404, "is not retried, and the file is reported as missing", "missing"],
  [202, "is not retried", "permanent"],
  [400, "is not retried", "permanent"],
  [405, "is not retried", "permanent"],
  [408, "is retried and, if every attempt fails, counted as an outage of the file host", "unavailable"],
  [429, "is retried and, if every attempt fails, counted as an outage of the file host", "unavailable"],
  [500, "is retried and, if every attempt fails, counted as an outage of the file host", "unavailable"],
  [503, "is retried and, if every attempt fails, counted as an outage of the file host", "unavailable"],
])("HTTP %i from the file host %s", async (status, _, kind) => {
  const { error } = await transferFrom(respondWith({}, null, status), { size: 1 });
  expect(error).toMatchObject({ kind, retryAfterMs: undefined });
});

test("the next download attempt waits for a Retry-After in seconds, but ignores a Retry-After that is a date", async () => {
  const waitFor = async (header: string) => {
    const { error } = await transferFrom(respondWith({ "retry-after": header }, null, 503), { size: 1 });
    return (error as DownloadFailure).retryAfterMs;
  };
  expect([await waitFor("2"), await waitFor("Sat, 21 Nov 2026 12:00:00 GMT"), await waitFor("0")]).toEqual([
    2_000,
    undefined,
    undefined,
  ]);
});

test("an interrupted download of a file of unknown size restarts from the first byte", async () => {
  const brand = await brandWithFiles({ a: { file_size_bytes: null } });
  const requests = failFileRequests(brand, (_, count) => (count === 1 ? "cut" : undefined));
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1 });
  expect(requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  expect(isComplete(run.files[0] ?? ({} as never), run.files[0]?.bytes ?? 0)).toBe(true);
});

test("a download run ends after a few failed files if the file host is down", async () => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, {}])));
  failFileRequests(brand, () => "reset");
  const run = await download(brand);
  expect(run.code).toBe(6);
  const { failed, not_tried } = run.summary ?? {};
  expect(failed).toBeLessThanOrEqual(7);
  expect(Number(failed) + Number(not_tried)).toBe(12);
  expect(listFolder(brand)).toEqual([]);
});

test("errors from the file host do not end a download run if other files succeed in between", async () => {
  const ids = Array.from({ length: 9 }, (_, n) => `f${n}`);
  const brand = await brandWithFiles(Object.fromEntries(ids.map((id) => [id, {}])));
  let resets = 0;
  const fetch: typeof brand.fetch = async (url, init) => {
    const id = /\/files\/\w+\/(f\d)/.exec(String(url))?.[1];
    if (id === undefined || id === "f8") return await brand.fetch(url, init);
    if (id === "f3" || id === "f7") {
      // Each failed download was attempted three times.
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

test("missing files and rejected download URLs do not end a download run", async () => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, {}])));
  failFileRequests(brand, (id) => ({ status: id < "f3" ? 404 : 403 }));
  const { code, summary } = await download(brand);
  expect([code, summary]).toEqual([8, expect.objectContaining({ failed: 12, not_tried: 0 })]);
});

test("if a file has been removed from the library, only that file fails to download", async () => {
  const brand = await brandWithFiles({ a: {}, b: {} });
  brand.remove("content", "upload/a");
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1, failed: 1 });
  expect(run.files[0]?.error).toContain("404");
  expect(run.err).toContain("run `brandapi sync content` to update the list of files");
});

test("if the API rejects the request for a file's download URL, only that file fails", async () => {
  const brand = await brandWithFiles({ a: {}, b: {} });
  brand.before = ({ path }) => (path === "/content/upload/a/download" ? { status: 400 } : undefined);
  const run = await download(brand);
  expect(run.summary).toMatchObject({ downloaded: 1, failed: 1 });
  expect(run.files[0]?.error).toContain("no download URL for the file (400)");
  expect(run.err).not.toContain("sync content");
});

test("the error for a key without the `content:read` scope names the scope", async () => {
  const brand = await brandWithFiles({ a: {} });
  brand.setKey({ scopes: ["roster:read"] });
  expect(await download(brand)).toMatchObject({ code: 5, err: expect.stringContaining("content:read") });
});

test.each([
  ["http://files.brand.test/x", "is not https", "is not https"],
  [
    "https://user:secret@files.brand.test/x",
    "contains a username or password",
    "contains a username or password",
  ],
  [7, "is a number", "is missing"],
])(
  "if the API returns the download URL %j, the file is not downloaded because the URL %s",
  async (url, _, problem) => {
    const brand = await brandWithFiles({ a: {} });
    brand.before = ({ path }) =>
      path.endsWith("/download") ? { envelope: (whole) => ({ ...whole, data: { url } }) } : undefined;
    const run = await download(brand);
    expect(run.files[0]?.error).toBe(`the file's download URL ${problem}`);
    expect(run.requests.filter(({ path }) => path === "/x")).toEqual([]);
  },
);

test.each([
  [401, 4],
  [503, 6],
])("if the API responds with HTTP %i, the download fails with exit code %i", async (status, code) => {
  const brand = await brandWithFiles(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`f${n}`, {}])));
  brand.before = ({ path }) => (path.endsWith("/download") ? { status } : undefined);
  const run = await download(brand, "--max-wait 1s");
  expect(run).toMatchObject({ code, summary: undefined });
});

test("`download content` names the command to run first if the library has never been synced", async () => {
  const run = await makeBrand().run("download content");
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("`brandapi sync content") });
});
