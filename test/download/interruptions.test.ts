import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDownloadLog } from "../../src/download/catalogue.js";
import { ApiUnavailable, KeyRejected } from "../../src/errors.js";
import { cutAfter, type FileFault, libraryOf, misbehave, type TestLibrary } from "./support.js";

const size = 300_000;
const half = size / 2;

async function oneFile(fault: (library: TestLibrary) => FileFault, stated: { statedSize?: null } = {}) {
  const library = await libraryOf([{ filename: "reel.mp4", size, ...stated }]);
  const [id = ""] = library.ids;
  const whole = library.bytesOf(id);
  const host = await misbehave(library.sandbox, fault(library));
  return { library, id, whole, etag: `"${id.slice(0, 8)}-${size}"`, ...host };
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

const onlyFile = (folder: string) => {
  const names = readdirSync(folder);
  expect(names).toHaveLength(1);
  return join(folder, names[0] ?? "");
};

/** Downloads until half of the file is there, then asks for a stop. */
async function stopHalfway(setting: Awaited<ReturnType<typeof oneFile>>) {
  const stop = new AbortController();
  const reason = new Error("stopped by the test");
  const task = {
    update: ({ done }: { done: number }) => {
      if (done >= half) stop.abort(reason);
    },
    waiting: () => {},
  };
  await expect(setting.library.run({ signal: stop.signal, task })).rejects.toBe(reason);
}

const stallHalfway =
  (headers: Record<string, string> = {}) =>
  ({ bytesOf }: TestLibrary): FileFault =>
  ({ id, count }, response) => {
    if (count > 1) return false;
    const whole = bytesOf(id);
    response.writeHead(200, { "content-length": size, etag: `"${id.slice(0, 8)}-${size}"`, ...headers });
    response.write(whole.subarray(0, half));
    return true;
  };

test("a download that was stopped leaves a part, and the next run fetches only the rest", async () => {
  const setting = await oneFile(stallHalfway());
  const { library, requests, whole, etag } = setting;
  await stopHalfway(setting);
  expect(onlyFile(library.out)).toMatch(/reel\.mp4\.part$/);
  expect(library.mirror.db.prepare("SELECT count(*) FROM content_downloads").pluck().get()).toBe(0);

  const { summary, results } = await library.run();

  expect(requests[1]).toMatchObject({ range: `bytes=${half}-`, ifRange: etag });
  expect(summary.downloaded).toBe(1);
  expect(results[0]).toMatchObject({ resumed_from: half, bytes: size, sha256: sha256(whole) });
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("a file that changed at the file host since is fetched from its first byte", async () => {
  const setting = await oneFile(stallHalfway({ etag: '"an older version"' }));
  await stopHalfway(setting);
  const { library, requests, whole } = setting;

  const { results } = await library.run();

  expect(requests).toHaveLength(2);
  expect(requests[1]?.ifRange).toBe('"an older version"');
  expect(results[0]?.sha256).toBe(sha256(whole));
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("without a strong validator nothing is pieced together", async () => {
  const setting = await oneFile(stallHalfway({ etag: 'W/"weak"' }));
  await stopHalfway(setting);
  const { library, requests, whole } = setting;

  await library.run();

  expect(requests[1]?.range).toBeUndefined();
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("a part that is whole already, of a run killed before its last step, is finished without the file host", async () => {
  const setting = await oneFile(stallHalfway());
  await stopHalfway(setting);
  const { library, requests, whole } = setting;
  writeFileSync(onlyFile(library.out), whole);

  await library.run();

  expect(requests).toHaveLength(1);
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test.each<[string, FileFault]>([
  ["416", (_, response) => Boolean(response.writeHead(416, { "content-range": `bytes */${size}` }).end())],
  [
    "another range than asked for",
    (_, response) =>
      Boolean(response.writeHead(206, { "content-range": `bytes 0-9/${size}` }).end("0123456789")),
  ],
  ["206 without a range", (_, response) => Boolean(response.writeHead(206).end("0123456789"))],
  [
    "the range of another version",
    (_, response) =>
      Boolean(
        response
          .writeHead(206, { "content-range": `bytes ${half}-${size - 1}/${size}`, etag: '"new"' })
          .end(Buffer.alloc(half)),
      ),
  ],
])("a file host that answers the rest with %s is asked for the whole", async (_, fault) => {
  const setting = await oneFile((library) => (request, response) => {
    if (request.count === 2) return fault(request, response);
    return stallHalfway()(library)(request, response);
  });
  await stopHalfway(setting);
  const { library, requests, whole } = setting;

  await library.run();

  expect(requests.map(({ range }) => range)).toEqual([undefined, `bytes=${half}-`, undefined]);
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("a connection that breaks again and again is resumed as long as the file grows", async () => {
  const { library, whole, requests } = await oneFile(({ bytesOf }) => ({ id, range }, response) => {
    const first = Number(/\d+/.exec(range ?? "")?.[0] ?? 0);
    const etag = '"steady"';
    const rest = bytesOf(id).subarray(first);
    response.writeHead(first > 0 ? 206 : 200, {
      etag,
      "content-length": rest.length,
      ...(first > 0 ? { "content-range": `bytes ${first}-${size - 1}/${size}` } : {}),
    });
    if (rest.length <= 30_000) response.end(rest);
    else response.write(rest.subarray(0, 30_000), () => setTimeout(() => response.destroy(), 5));
    return true;
  });

  const { summary } = await library.run();

  expect(summary.downloaded).toBe(1);
  expect(requests.length).toBeGreaterThan(5);
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("a URL that is older than four and a half minutes is not called again: a new one is asked for", async () => {
  const { library, requests } = await oneFile(
    () =>
      ({ count }, response) =>
        count === 1 && Boolean(response.writeHead(503, { "retry-after": "280" }).end()),
  );

  const { summary } = await library.run({ maxWaitMs: 600_000 });

  expect(summary.downloaded).toBe(1);
  expect(requests[0]?.url).not.toBe(requests[1]?.url);
});

test("a URL that the file host refuses is not called again: a new one is asked for", async () => {
  const refused = new Set<string>();
  const { library } = await oneFile(() => ({ url }, response) => {
    if (refused.size === 0) refused.add(url);
    return refused.has(url) && Boolean(response.writeHead(410).end());
  });
  const { summary } = await library.run();
  expect(summary.downloaded).toBe(1);
  expect(library.clock.slept.at(-1)).toBe(0);
});

test("a URL that is still fresh is used for the second try", async () => {
  const { library, requests } = await oneFile(
    () =>
      ({ count }, response) =>
        count === 1 && Boolean(response.writeHead(503).end()),
  );
  await library.run();
  expect(requests[0]?.url).toBe(requests[1]?.url);
});

test.each<[string, number, FileFault]>([
  ["refuses every URL", 4, (_, response) => Boolean(response.writeHead(403).end())],
  ["does not have the file", 1, (_, response) => Boolean(response.writeHead(404).end())],
  ["answers with a strange status", 1, (_, response) => Boolean(response.writeHead(418).end())],
  ["always sends a shorter file", 4, (_, response) => Boolean(response.writeHead(200).end("short"))],
  [
    "states another size",
    4,
    (_, response) => Boolean(response.writeHead(200, { "content-length": 5 }).end("short")),
  ],
  [
    "never stops sending",
    4,
    (_, response) => {
      response.writeHead(200);
      const more = () => void (response.destroyed || response.write(Buffer.alloc(65_536), more));
      more();
      return true;
    },
  ],
])(
  "a file host that %s costs that file only, after some %i requests, and leaves nothing behind",
  async (_, tries, fault) => {
    const library = await libraryOf([
      { filename: "bad.jpg", size },
      { filename: "good.jpg", size: 500 },
    ]);
    const [bad] = library.ids;
    const { requests } = await misbehave(library.sandbox, (request, response) =>
      request.id === bad ? fault(request, response) : false,
    );

    const { summary, results } = await library.run();

    expect(summary).toMatchObject({ downloaded: 1, failed: 1, not_tried: 0 });
    expect(results.find(({ id }) => id === bad)?.error).toMatch(/\w/);
    expect(JSON.stringify(results)).not.toContain("signature");
    // A connection that is being cut off can take the next request with it: that one is sent again.
    const sent = requests.filter(({ id }) => id === bad).length;
    expect(sent).toBeGreaterThanOrEqual(tries);
    expect(sent).toBeLessThanOrEqual(tries + 4);
    expect(onlyFile(library.out)).toMatch(/good\.jpg$/);
  },
);

test("a redirect is not followed", async () => {
  let visited = 0;
  const elsewhere = createServer((_, response) => {
    visited += 1;
    response.end("x".repeat(size));
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void elsewhere.close());
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/signature=stolen`;
  const { library } = await oneFile(
    () => (_, response) => Boolean(response.writeHead(302, { location }).end()),
  );

  const { results } = await library.run();

  expect(results[0]?.error).toBe("the file host redirects it (302); redirects are not followed");
  expect(visited).toBe(0);
});

test("a file whose size nobody states is taken as it comes", async () => {
  const { library, whole } = await oneFile(
    ({ bytesOf }) =>
      ({ id }, response) =>
        Boolean(response.writeHead(200).end(bytesOf(id))),
    { statedSize: null },
  );
  await library.run();
  expect(readFileSync(onlyFile(library.out)).equals(whole)).toBe(true);
});

test("a file host that is down is given up after a few files, and the rest is not tried", async () => {
  const library = await libraryOf(Array.from({ length: 12 }, () => ({ filename: "a.jpg", size: 100 })));
  await misbehave(library.sandbox, (_, response) => Boolean(response.destroy()));

  const { summary, results } = await library.run();

  // Four in a row end it; up to three others were on their way by then.
  expect(summary.downloaded).toBe(0);
  expect(summary.failed).toBeLessThanOrEqual(7);
  expect(summary.failed + summary.not_tried).toBe(12);
  expect(results[0]?.error).toMatch(/the file host/);
  expect(readdirSync(library.out)).toEqual([]);
});

test("a file that left the library costs that file only", async () => {
  const library = await libraryOf(["a.jpg", "b.jpg"].map((filename) => ({ filename, size: 100 })));
  library.sandbox.events.removeContent("upload", library.ids[0] ?? "");

  const { summary, results } = await library.run();

  expect(summary).toMatchObject({ downloaded: 1, failed: 1 });
  expect(results.find(({ outcome }) => outcome === "failed")?.error).toBe(
    "the library does not have it any more (404)",
  );
});

test("a download URL that is gone for good is told with the status that came", async () => {
  const library = await libraryOf([{ filename: "a.jpg", size: 100 }]);
  library.sandbox.intercept = () => ({ kind: "status", status: 410 });
  const { results } = await library.run();
  expect(results[0]?.error).toBe("the library does not have it any more (410)");
});

test.each([
  [401, KeyRejected],
  [503, ApiUnavailable],
])("an API that answers %i ends the whole run", async (status, expected) => {
  const library = await libraryOf(Array.from({ length: 9 }, () => ({ filename: "a.jpg", size: 100 })));
  library.sandbox.intercept = () => ({ kind: "status", status });
  await expect(library.run()).rejects.toBeInstanceOf(expected);
});

test("what ends the run also ends the files under way, and no other is begun", async () => {
  const library = await libraryOf(Array.from({ length: 30 }, () => ({ filename: "a.jpg", size })));
  const { requests } = await misbehave(library.sandbox, (request, response) =>
    stallHalfway()(library)(request, response),
  );
  const toTheFileHost = library.sandbox.intercept;
  let asked = 0;
  library.sandbox.intercept = async (request) => {
    asked += 1;
    if (asked < 4) return toTheFileHost?.(request);
    while (requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
    return { kind: "status", status: 401 };
  };
  await expect(library.run()).rejects.toBeInstanceOf(KeyRejected);
  expect(asked).toBe(4);
});

test("a file host's answer that does not hear that it is called off is left behind", async () => {
  const library = await libraryOf([{ filename: "reel.mp4", size }]);
  const stop = new AbortController();
  const silent = new ReadableStream({ pull: () => new Promise(() => {}) });
  const { fetch } = library.access();
  const download = library.run({
    signal: stop.signal,
    async fetch(url, init) {
      if (!String(url).includes("/files/")) return await fetch(url, init);
      setTimeout(() => stop.abort(new Error("stopped by the test")), 20);
      return new Response(silent, { headers: { "content-length": String(size) } });
    },
  });
  await expect(download).rejects.toThrow("stopped by the test");
});

test("the beginning of one file is never taken for that of another", async () => {
  const { mirror } = await libraryOf([]);
  const log = openDownloadLog(mirror);
  log.rememberValidator("/out/name", { source: "upload", id: "1" }, '"v1"');
  expect(log.validatorOf("/out/name", { source: "upload", id: "1" })).toBe('"v1"');
  expect(log.validatorOf("/out/name", { source: "upload", id: "2" })).toBeNull();
  expect(log.validatorOf("/out/name", { source: "deliverable", id: "1" })).toBeNull();
});

test("links and folders planted in the output folder are never written through", async () => {
  const library = await libraryOf(
    ["part.jpg", "hard.jpg", "final.jpg", "folder.jpg"].map((filename) => ({ filename, size: 400 })),
  );
  const first = await library.run();
  const pathOf = (name: string) => first.results.find(({ path }) => path.endsWith(name))?.path ?? "";
  for (const { path } of first.results) rmSync(path);
  const victim = join(library.folder, "victim");
  writeFileSync(victim, "precious");
  symlinkSync(victim, `${pathOf("part.jpg")}.part`);
  linkSync(victim, `${pathOf("hard.jpg")}.part`);
  symlinkSync(victim, pathOf("final.jpg"));
  mkdirSync(pathOf("folder.jpg"));

  const { summary, results } = await library.run();

  expect(readFileSync(victim, "utf8")).toBe("precious");
  expect(summary).toMatchObject({ downloaded: 3, failed: 1 });
  expect(results.find(({ outcome }) => outcome === "failed")?.error).toMatch(/cannot be put in its place/);
  for (const { path, id, outcome } of results)
    if (outcome === "downloaded") expect(readFileSync(path).equals(library.bytesOf(id))).toBe(true);
});

test("progress counts bytes up to the total, also where a file starts over or fails", async () => {
  const library = await libraryOf([
    { filename: "a.jpg", size },
    { filename: "b.jpg", size: 1_000, statedSize: null },
    { filename: "c.jpg", size },
  ]);
  const [startsOver, , fails] = library.ids;
  await misbehave(library.sandbox, ({ id, count }, response) => {
    const whole = library.bytesOf(id);
    if (id === startsOver && count === 1) return cutAfter(response, whole, half);
    if (id !== fails) return false;
    if (count === 1) return cutAfter(response, whole, half, { etag: '"v1"' });
    return Boolean(response.writeHead(404).end());
  });
  let last = { done: 0, total: 0 };
  const task = {
    update: (progress: { done: number; total?: number }) => {
      last = { total: 0, ...progress };
    },
    waiting: () => {},
  };

  await library.run({ task });

  expect(last).toEqual({ done: size + 1_000, total: size + 1_000 });
  expect(existsSync(library.out)).toBe(true);
});
