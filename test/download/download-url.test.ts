import { expect, test } from "vitest";
import { downloadPath, readFileUrl } from "../../src/download/download-file.js";

const base = "https://platform.example/shop/api/brand/v1";
test("downloadPath escapes the source and ID, and returns null if the ID cannot be part of a URL", () => {
  expect(downloadPath({ source: "upload", id: "7d5c1a52" })).toBe("/content/upload/7d5c1a52/download");
  expect(downloadPath({ source: "up/load", id: "../a?b#c" })).toBe(
    "/content/up%2Fload/..%2Fa%3Fb%23c/download",
  );
  for (const id of ["..", "\ud800", "x".repeat(20_000)])
    for (const file of [
      { source: "upload", id },
      { source: id, id: "7d5c1a52" },
    ])
      expect(downloadPath(file)).toBe(null);
});

test.each([
  ["https://files.example/a?signature=s3cret", base],
  ["http://127.0.0.1:9000/a?signature=s3cret", "http://127.0.0.1:4010/api/brand/v1"],
  ["http://[::1]:9000/a", "http://localhost:4010/api/brand/v1"],
])("the download URL %s is accepted with the base URL %s", (url, baseUrl) => {
  expect(readFileUrl(url, baseUrl)).toBeInstanceOf(URL);
});

test.each([
  ["http://files.example/a?signature=s3cret", base],
  ["http://127.0.0.1:9000/a?signature=s3cret", base],
  ["http://files.example/a?signature=s3cret", "http://127.0.0.1:4010/api/brand/v1"],
  ["https://s3cret:s3cret@files.example/a", base],
  ["https://s3cret@files.example/a", base],
  ["https://:s3cret@files.example/a", base],
  ["ftp://127.0.0.1/s3cret", "http://127.0.0.1:4010/api/brand/v1"],
  ["ftp://files.example/s3cret", base],
  ["file:///s3cret", base],
  ["data:text/plain,s3cret", base],
  ["/s3cret", base],
  [{ s3cret: 1 }, base],
  [null, base],
])("the download URL %s is rejected with the base URL %s, without quoting it", (url, baseUrl) => {
  const result = readFileUrl(url, baseUrl);
  expect(result).toEqual({ problem: expect.any(String) });
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test("a download URL has at most 16,384 characters", () => {
  const urlOf = (length: number) => "https://files.example/".padEnd(length, "x");
  expect(readFileUrl(urlOf(16_384), base)).toBeInstanceOf(URL);
  expect(readFileUrl(urlOf(16_385), base)).toEqual({ problem: "is invalid" });
});
