import { expect, test } from "vitest";
import { downloadPath, parseFileUrl } from "../../src/download/download-file.js";

const base = "https://platform.example/shop/api/brand/v1";
test("downloadPath escapes a file's source and ID, or returns null if one of them cannot be part of a URL", () => {
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
  [base, "https://files.example/a?signature=s3cret"],
  ["http://127.0.0.1:4010/api/brand/v1", "http://127.0.0.1:9000/a?signature=s3cret"],
  ["http://localhost:4010/api/brand/v1", "http://[::1]:9000/a"],
])("an API at %s is allowed to return the download URL %s", (baseUrl, url) => {
  expect(parseFileUrl(url, baseUrl)).toBeInstanceOf(URL);
});

test.each([
  ["an https", "http://files.example/a?signature=s3cret"],
  ["an https", "http://127.0.0.1:9000/a?signature=s3cret"],
  ["a localhost", "http://files.example/a?signature=s3cret"],
  ["an https", "https://s3cret:s3cret@files.example/a"],
  ["an https", "https://s3cret@files.example/a"],
  ["an https", "https://:s3cret@files.example/a"],
  ["a localhost", "ftp://127.0.0.1/s3cret"],
  ["an https", "ftp://files.example/s3cret"],
  ["an https", "file:///s3cret"],
  ["an https", "data:text/plain,s3cret"],
  ["an https", "/s3cret"],
  ["an https", { s3cret: 1 }],
  ["an https", null],
])("with %s base URL, the download URL %j is rejected and not quoted in the error", (kind, url) => {
  const baseUrl = kind === "an https" ? base : "http://127.0.0.1:4010/api/brand/v1";
  const result = parseFileUrl(url, baseUrl);
  expect(result).toEqual({ problem: expect.any(String) });
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test("a download URL is rejected if it is longer than 16,384 characters", () => {
  const urlOf = (length: number) => "https://files.example/".padEnd(length, "x");
  expect(parseFileUrl(urlOf(16_384), base)).toBeInstanceOf(URL);
  expect(parseFileUrl(urlOf(16_385), base)).toEqual({ problem: "is invalid" });
});
