import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Fault, Sandbox } from "../../src/sandbox/index.js";
import { ask, askAll, handClock, sandboxOf } from "./support.js";

interface Item {
  id: string;
  source: string;
  file_size_bytes: number | null;
  download_path: string;
  filename: string | null;
  mime_type: string | null;
}

async function itemOf(sandbox: Sandbox, choose: (item: Item) => boolean = () => true): Promise<Item> {
  const items = (await askAll(sandbox, "/content")) as unknown as Item[];
  const item = items.find((one) => one.file_size_bytes !== null && choose(one));
  if (!item) throw new Error("No such item.");
  return item;
}

async function urlOf(sandbox: Sandbox, item: Item): Promise<string> {
  return (await ask(sandbox, item.download_path)).json.data.url;
}

async function bytes(url: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(url, { headers, method });
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
}

describe("downloads", () => {
  test("the answer is a signed URL on the second origin, valid 300 seconds, new at each call", async () => {
    const sandbox = await sandboxOf();
    const item = await itemOf(sandbox);
    const { data } = (await ask(sandbox, item.download_path)).json;
    expect(Object.keys(data)).toEqual(["url", "expires_in_seconds", "filename", "mime_type"]);
    expect([data.expires_in_seconds, data.filename, data.mime_type]).toEqual([
      300,
      item.filename,
      item.mime_type,
    ]);
    expect(new URL(data.url).origin).toBe(sandbox.filesUrl);
    expect(sandbox.filesUrl).not.toBe(new URL(sandbox.baseUrl).origin);
    expect(await urlOf(sandbox, item)).not.toBe(data.url);
  });

  test("`download_path` can repeat the versioned root", async () => {
    const sandbox = await sandboxOf({ undocumented: { downloadPath: "full" } });
    const item = await itemOf(sandbox);
    expect(item.download_path).toBe(`/api/brand/v1/content/${item.source}/${item.id}/download`);
    const response = await fetch(new URL(item.download_path, sandbox.baseUrl), {
      headers: { authorization: `Bearer ${sandbox.key}` },
    });
    expect(response.status).toBe(200);
  });

  test("a file has the size its record states, from a kilobyte to two megabytes, and the same bytes each time", async () => {
    const sandbox = await sandboxOf();
    const items = ((await askAll(sandbox, "/content")) as unknown as Item[]).filter(
      (item) => item.file_size_bytes !== null,
    );
    const sizes = items.map((item) => item.file_size_bytes ?? 0);
    expect(Math.min(...sizes)).toBeLessThan(2_000);
    expect(Math.max(...sizes)).toBeGreaterThan(1_000_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 ** 21);
    const digests = new Set<string>();
    for (const item of items.slice(0, 8)) {
      const [first, second] = [
        await bytes(await urlOf(sandbox, item)),
        await bytes(await urlOf(sandbox, item)),
      ];
      expect([first.status, first.body.length]).toEqual([200, item.file_size_bytes]);
      expect(first.headers.get("content-length")).toBe(String(item.file_size_bytes));
      expect(first.body.equals(second.body)).toBe(true);
      digests.add(createHash("sha256").update(first.body).digest("hex"));
    }
    expect(digests.size).toBe(8);
  });

  test("ranges give exactly their bytes; what lies beyond the file is 416; what is not one range is ignored", async () => {
    const sandbox = await sandboxOf();
    const item = await itemOf(sandbox, (one) => (one.file_size_bytes ?? 0) > 5000);
    const url = await urlOf(sandbox, item);
    const whole = (await bytes(url)).body;
    const size = whole.length;
    const cases: [string, number, number, number][] = [
      ["bytes=0-0", 206, 0, 1],
      ["bytes=1-6", 206, 1, 7],
      ["bytes=1001-", 206, 1001, size],
      [`bytes=${size - 1}-`, 206, size - 1, size],
      [`bytes=0-${size * 2}`, 206, 0, size],
      ["bytes=-7", 206, size - 7, size],
      [`bytes=-${size * 2}`, 206, 0, size],
      ["bytes=5-2", 200, 0, size],
      ["bytes=0-1,4-5", 200, 0, size],
      ["items=0-1", 200, 0, size],
      ["bytes=-", 200, 0, size],
    ];
    for (const [range, status, from, to] of cases) {
      const got = await bytes(url, { range });
      expect([range, got.status, got.body.equals(whole.subarray(from, to))]).toEqual([range, status, true]);
      if (status === 206) expect(got.headers.get("content-range")).toBe(`bytes ${from}-${to - 1}/${size}`);
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      const got = await bytes(url, { range });
      expect([range, got.status, got.headers.get("content-range")]).toEqual([range, 416, `bytes */${size}`]);
    }
    const head = await bytes(url, {}, "HEAD");
    expect([head.status, head.body.length, head.headers.get("content-length")]).toEqual([
      200,
      0,
      String(size),
    ]);
    expect(sandbox.fileLog.at(-1)).toMatchObject({
      method: "HEAD",
      path: new URL(url).pathname,
      status: 200,
    });
  });

  test("If-Range resumes the same file, and another validator gets the whole", async () => {
    const sandbox = await sandboxOf();
    const url = await urlOf(sandbox, await itemOf(sandbox));
    const etag = (await bytes(url)).headers.get("etag") ?? "";
    expect((await bytes(url, { range: "bytes=10-", "if-range": etag })).status).toBe(206);
    expect((await bytes(url, { range: "bytes=10-", "if-range": '"other"' })).status).toBe(200);
  });

  test("a URL dies after 300 seconds by the sandbox's clock, not a moment before", async () => {
    const clock = handClock();
    const sandbox = await sandboxOf({}, clock);
    const url = await urlOf(sandbox, await itemOf(sandbox));
    clock.move(299_999);
    expect((await bytes(url)).status).toBe(200);
    clock.move(1);
    expect((await bytes(url)).status).toBe(403);
    const fresh = await urlOf(sandbox, await itemOf(sandbox));
    sandbox.advance(300_000);
    expect((await bytes(fresh)).status).toBe(403);
  });

  test("a forged, altered or missing signature is 403, another method 405", async () => {
    const sandbox = await sandboxOf();
    const [a, b] = (await askAll(sandbox, "/content?source=upload")) as unknown as [Item, Item];
    const url = await urlOf(sandbox, a);
    const altered = [
      url.replace(/signature=.*/, "signature=0"),
      url.replace(a.id, b.id),
      url.replace(/expires=\d+/, "expires=99999999999999"),
      url.replace(/nonce=\d+/, "nonce=77"),
      url.split("?")[0] ?? "",
    ];
    for (const one of altered) expect([one, (await bytes(one)).status]).toEqual([one, 403]);
    expect((await bytes(url, {}, "POST")).status).toBe(405);
    expect((await bytes(`${sandbox.filesUrl}//`)).status).toBe(403);
    sandbox.events.removeContent(a.source, a.id);
    expect((await bytes(url)).status).toBe(404);
    expect((await ask(sandbox, a.download_path)).status).toBe(404);
  });

  test("a key shown to the file host is refused and counted", async () => {
    const sandbox = await sandboxOf();
    const url = await urlOf(sandbox, await itemOf(sandbox));
    expect((await bytes(url)).status).toBe(200);
    expect(sandbox.leakedKeys).toBe(0);
    expect((await bytes(url, { authorization: `Bearer ${sandbox.key}` })).status).toBe(400);
    expect((await bytes(url, { "x-api-key": "a" })).status).toBe(400);
    expect((await bytes(url, { "x-other": sandbox.key })).status).toBe(400);
    expect((await bytes(`${url}&k=${sandbox.key}`)).status).toBe(400);
    expect(sandbox.leakedKeys).toBe(4);
  });

  test("the file host can be made to fail: cut, short or refused", async () => {
    const sandbox = await sandboxOf();
    const item = await itemOf(sandbox, (one) => (one.file_size_bytes ?? 0) > 3000);
    const whole = (await bytes(await urlOf(sandbox, item))).body;
    const counts: number[] = [];
    const spoil = (fault: Fault | undefined) => {
      sandbox.interceptFile = ({ count }) => {
        counts.push(count);
        return fault;
      };
      return urlOf(sandbox, item);
    };
    await expect(bytes(await spoil({ kind: "reset", when: "body" }))).rejects.toThrow();
    const short = await bytes(await spoil({ kind: "truncated", bytes: 100 }));
    expect([short.status, short.body.equals(whole.subarray(0, 100))]).toEqual([200, true]);
    expect((await bytes(await spoil({ kind: "status", status: 403 }))).status).toBe(403);
    expect((await bytes(await spoil(undefined))).body.equals(whole)).toBe(true);
    expect(counts).toEqual([2, 3, 4, 5]);
  });
});
