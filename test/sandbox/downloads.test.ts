import { expect, test } from "vitest";
import { type ApiRequest, createApi, fileBytes } from "../../src/sandbox/index.js";
import { noon } from "../support/records.js";
import { ask, history } from "./support.js";

const item = history.content.find((one) => Number(one.file_size_bytes) > 5_000);
const size = item?.file_size_bytes ?? 0;

function signed(now = noon): string {
  return String(ask(item?.download_path ?? "", { now }).one.url);
}

function get(url: string, headers: ApiRequest["headers"] = {}, now = noon, method = "GET") {
  const { pathname, search } = new URL(url);
  const api = createApi({ brands: [history], now: () => now });
  return api.answerFile({ method, url: pathname + search, headers, address: "127.0.0.1" });
}

test("the answer is a signed URL on the second origin, valid 300 seconds, another one at each instant", () => {
  const { one } = ask(item?.download_path ?? "");
  expect(one).toEqual({
    url: expect.stringMatching(/^https:\/\/files\.brand\.test\//),
    expires_in_seconds: 300,
    filename: item?.filename,
    mime_type: item?.mime_type,
  });
  expect(signed(noon + 1)).not.toBe(signed());
  expect(get(signed(), {}, noon + 299_999).status).toBe(200);
  expect(get(signed(), {}, noon + 300_000).status).toBe(403);
});

test("a file has the size that its record states, and the same bytes each time", () => {
  const { status, headers, body } = get(signed());
  expect([status, body.length, headers["content-type"]]).toEqual([200, size, item?.mime_type]);
  expect(get(signed()).body.equals(body)).toBe(true);
  expect(fileBytes(item?.id ?? "", 0, size).equals(body)).toBe(true);
});

test("ranges give exactly their bytes; beyond the file is 416; anything but one range is ignored", () => {
  const { body } = get(signed());
  const part = (range: string) => get(signed(), { range });
  for (const [range, first, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=7-1000", 7, 1_001],
    ["bytes=4999-", 4_999, size],
    ["bytes=-10", size - 10, size],
    [`bytes=10-${size + 5}`, 10, size],
  ] as const) {
    const answer = part(range);
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toBe(`bytes ${first}-${end - 1}/${size}`);
    expect(answer.body.equals(body.subarray(first, end))).toBe(true);
  }
  expect(part(`bytes=${size}-`)).toMatchObject({
    status: 416,
    headers: { "content-range": `bytes */${size}` },
  });
  for (const range of ["bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=9-3"])
    expect(part(range).status).toBe(200);
});

test("If-Range resumes the same file, and another validator gets the whole", () => {
  const { etag = "" } = get(signed()).headers;
  expect(get(signed(), { range: "bytes=5-", "if-range": etag }).status).toBe(206);
  expect(get(signed(), { range: "bytes=5-", "if-range": '"other"' }).status).toBe(200);
});

test("a forged, altered or missing signature is 403, a key 400, another method 405, another file 404", () => {
  const url = signed();
  expect(get(url.split("?")[0] ?? "").status).toBe(403);
  expect(get(url.replace("signature=", "signature=0")).status).toBe(403);
  expect(get(url.replace(/expires=\d/, "expires=9")).status).toBe(403);
  expect(get(url.replace(item?.id ?? "", history.content[1]?.id ?? "")).status).toBe(403);
  expect(get(url, { authorization: `Bearer ${history.keys[0]?.secret}` }).status).toBe(400);
  expect(get(url, {}, noon, "PUT").status).toBe(405);
});
