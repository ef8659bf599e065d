import { expect, test } from "vitest";
import { downloadPath, readFileUrl } from "../../src/download/transfer.js";

const base = "https://platform.example/shop/api/brand/v1";
test("the download path is made of source and id, escaped; an id that no address can hold has none", () => {
  expect(downloadPath({ source: "upload", id: "7d5c1a52" })).toBe("/content/upload/7d5c1a52/download");
  expect(downloadPath({ source: "up/load", id: "../a?b#c" })).toBe(
    "/content/up%2Fload/..%2Fa%3Fb%23c/download",
  );
  for (const id of ["..", "\ud800", "x".repeat(20_000)])
    expect(downloadPath({ source: "upload", id })).toBe(null);
});

test.each([
  ["https://files.example/a?signature=s3cret", base],
  ["http://127.0.0.1:9000/a?signature=s3cret", "http://127.0.0.1:4010/api/brand/v1"],
  ["http://[::1]:9000/a", "http://localhost:4010/api/brand/v1"],
])("%s is called when the base URL is %s", (url, baseUrl) => {
  expect(readFileUrl(url, baseUrl)).toBeInstanceOf(URL);
});

test.each([
  ["http://files.example/a?signature=s3cret", base],
  ["http://127.0.0.1:9000/a?signature=s3cret", base],
  ["http://files.example/a?signature=s3cret", "http://127.0.0.1:4010/api/brand/v1"],
  ["https://s3cret:s3cret@files.example/a", base],
  ["https://s3cret@files.example/a", base],
  ["ftp://files.example/s3cret", base],
  ["file:///s3cret", base],
  ["data:text/plain,s3cret", base],
  ["/s3cret", base],
  [{ s3cret: 1 }, base],
  [null, base],
])("%s is not called when the base URL is %s, and not quoted either", (url, baseUrl) => {
  const read = readFileUrl(url, baseUrl);
  expect(read).toEqual({ refused: expect.any(String) });
  expect(JSON.stringify(read)).not.toContain("s3cret");
});
