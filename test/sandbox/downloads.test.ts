import { expect, test } from "vitest";
import { createSandboxApi, type SandboxRequest } from "../../src/sandbox/api.js";
import { fileBytes } from "../../src/sandbox/file-host.js";
import { noon } from "../support/records.js";
import { ask, history } from "./support.js";

const item = history.content.find((one) => Number(one.file_size_bytes) > 5_000);
const size = item?.file_size_bytes ?? 0;

function signed(now = noon): string {
  return String(ask(item?.download_path ?? "", { now }).one.url);
}

function get(url: string, headers: SandboxRequest["headers"] = {}, now = noon, method = "GET") {
  const { pathname, search } = new URL(url);
  const api = createSandboxApi({ brands: [history], now: () => now });
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
  expect(get(signed(), {}, noon + 299_999).status).toBe(200);
  expect(get(signed(), {}, noon + 300_000).status).toBe(403);
});

test("a file has the size stated in its record, and its bytes never change", () => {
  const { status, headers, body } = get(signed());
  expect([status, body.length, headers["content-type"]]).toEqual([200, size, item?.mime_type]);
  expect(get(signed()).body.equals(body)).toBe(true);
  expect(fileBytes(item?.id ?? "", 0, size).equals(body)).toBe(true);
});

test("a range request returns the file from an offset to the end, or 416 if the offset is past the end", () => {
  const { body } = get(signed());
  const rest = get(signed(), { range: "bytes=4999-" });
  expect([rest.status, rest.headers["content-range"]]).toEqual([206, `bytes 4999-${size - 1}/${size}`]);
  expect(rest.body.equals(body.subarray(4_999))).toBe(true);
  const beyond = get(signed(), { range: `bytes=${size}-` });
  expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, `bytes */${size}`]);
  for (const range of ["bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=7-9"])
    expect(get(signed(), { range }).status).toBe(200);
});

test("the file host rejects a wrong signature with 403, an API key with 400, other methods with 405 and unknown files with 404", () => {
  const url = signed();
  expect(get(url.split("?")[0] ?? "").status).toBe(403);
  expect(get(url.replace("signature=", "signature=0")).status).toBe(403);
  expect(get(url.replace(/expires=\d/, "expires=9")).status).toBe(403);
  expect(get(url.replace(item?.id ?? "", history.content[1]?.id ?? "")).status).toBe(403);
  expect(get(url, { authorization: `Bearer ${history.keys[0]?.secret}` }).status).toBe(400);
  expect(get(url, {}, noon, "PUT").status).toBe(405);
});
