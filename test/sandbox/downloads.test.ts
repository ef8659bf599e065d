import { expect, test } from "vitest";
import { createSandboxApi, type SandboxRequest } from "../../src/sandbox/api.js";
import { type Brand, createBrand, emptyBrand } from "../../src/sandbox/brand.js";
import { fileBytes } from "../../src/sandbox/file-host.js";
import { fileAt, noon } from "../support/records.js";
import { ask, history } from "./support.js";

const item = history.content.find((one) => Number(one.file_size_bytes) > 5_000);
const size = item?.file_size_bytes ?? 0;

function signed(now = noon): string {
  return String(ask(item?.download_path ?? "", { now }).one.url);
}

function get(
  url: string,
  headers: SandboxRequest["headers"] = {},
  { now = noon, method = "GET", brands = [history] as readonly Brand[] } = {},
) {
  const { pathname, search } = new URL(url);
  const api = createSandboxApi({ brands, now: () => now });
  return api.handleFile({ method, url: pathname + search, headers, address: "127.0.0.1" });
}

test("a download request returns a signed URL that points to the file host and is valid for 300 seconds", () => {
  const { one } = ask(item?.download_path ?? "");
  expect(one).toEqual({
    url: expect.stringMatching(/^https:\/\/files\.brand\.test\//),
    expires_in_seconds: 300,
    filename: item?.filename,
    mime_type: item?.mime_type,
  });
  expect(signed(noon + 1)).not.toBe(signed());
  expect(get(signed(), {}, { now: noon + 299_999 }).status).toBe(200);
  expect(get(signed(), {}, { now: noon + 300_000 }).status).toBe(403);
});

test("a file from the sandbox has the size stated in the file's record, and always the same content", () => {
  const { status, headers, body } = get(signed());
  expect([status, body.length, headers["content-type"]]).toEqual([200, size, item?.mime_type]);
  expect(get(signed()).body.equals(body)).toBe(true);
  expect(fileBytes(item?.id ?? "", 0, size).equals(body)).toBe(true);
  expect(get(signed(), {}, { method: "HEAD" }).headers["content-length"]).toBe(String(size));
  const other = createBrand({ seed: 2, orders: 3, now: noon });
  expect(get(signed(), {}, { brands: [other, history] }).body.equals(body)).toBe(true);
});

test("a file without a recorded size is 10,000 bytes long, even if another source has a file with the same ID", () => {
  const id = "0ba4632f-2fc3-459d-ad30-789a1584477e";
  const bare = fileAt(id, noon, { file_size_bytes: null, mime_type: null });
  const content = [fileAt(id, noon, { source: "deliverable", file_size_bytes: 5 }), bare];
  const brand = { ...emptyBrand(history.keys), content };
  const files = content.map(({ download_path }) =>
    get(String(ask(download_path, { brand }).one.url), {}, { brands: [brand] }),
  );
  expect(files.map(({ headers, body }) => [body.length, headers["content-type"]])).toEqual([
    [5, "image/jpeg"],
    [10_000, "application/octet-stream"],
  ]);
});

test("a range request returns the file from an offset to the end, or 416 if the offset is past the end", () => {
  const { body } = get(signed());
  const rest = get(signed(), { range: "bytes=4999-" });
  expect([rest.status, rest.headers["content-range"]]).toEqual([206, `bytes 4999-${size - 1}/${size}`]);
  expect(rest.body.equals(body.subarray(4_999))).toBe(true);
  expect(get(signed(), { range: `bytes=${size - 1}-` }).body.equals(body.subarray(-1))).toBe(true);
  const beyond = get(signed(), { range: `bytes=${size}-` });
  expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, `bytes */${size}`]);
  for (const range of ["bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=7-9"])
    expect(get(signed(), { range }).status).toBe(200);
});

test("a range request with If-Range returns the complete file unless the ETag matches", () => {
  const { etag = "" } = get(signed()).headers;
  expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
  expect(get(signed(), { range: "bytes=10-", "if-range": etag }).status).toBe(206);
  expect(get(signed(), { range: "bytes=10-", "if-range": '"other"' })).toMatchObject({
    status: 200,
    headers: { "content-length": String(size) },
  });
});

test("the file host rejects a wrong signature with 403, an API key with 400, unsupported methods with 405 and unknown files with 404", () => {
  const url = signed();
  expect(get(url.split("?")[0] ?? "").status).toBe(403);
  expect(get(url.replace("signature=", "signature=0")).status).toBe(403);
  expect(get(url.replace(/expires=\d/, "expires=9")).status).toBe(403);
  expect(get(url.replace(item?.id ?? "", history.content[1]?.id ?? "")).status).toBe(403);
  expect(get(url, { authorization: `Bearer ${history.keys[0]?.secret}` }).status).toBe(400);
  expect(get(url, { "x-api-key": "any" }).status).toBe(400);
  expect(get(url, {}, { method: "PUT" }).status).toBe(405);
  expect(get(url, {}, { brands: [{ ...history, content: [] }] }).status).toBe(404);
});
