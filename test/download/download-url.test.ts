import { expect, test } from "vitest";
import { downloadPath, readFileUrl } from "../../src/download/download-file.js";

const base = "https://platform.example/shop/api/brand/v1";
test("the API path for a download escapes the file's source and ID, unless these cannot be part of a URL", () => {
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
])("an API at %s may return the download URL %s", (baseUrl, url) => {
  expect(readFileUrl(url, baseUrl)).toBeInstanceOf(URL);
});

test.each([
  ["https", "http://files.example/a?signature=s3cret"],
  ["https", "http://127.0.0.1:9000/a?signature=s3cret"],
  ["local", "http://files.example/a?signature=s3cret"],
  ["https", "https://s3cret:s3cret@files.example/a"],
  ["https", "https://s3cret@files.example/a"],
  ["https", "https://:s3cret@files.example/a"],
  ["local", "ftp://127.0.0.1/s3cret"],
  ["https", "ftp://files.example/s3cret"],
  ["https", "file:///s3cret"],
  ["https", "data:text/plain,s3cret"],
  ["https", "/s3cret"],
  ["https", { s3cret: 1 }],
  ["https", null],
])("if the %s API returns %j as a download URL, it is rejected and not quoted in the error", (api, url) => {
  const baseUrl = api === "https" ? base : "http://127.0.0.1:4010/api/brand/v1";
  const result = readFileUrl(url, baseUrl);
  expect(result).toEqual({ problem: expect.any(String) });
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test("a download URL is rejected if it has more than 16,384 characters", () => {
  const urlOf = (length: number) => "https://files.example/".padEnd(length, "x");
  expect(readFileUrl(urlOf(16_384), base)).toBeInstanceOf(URL);
  expect(readFileUrl(urlOf(16_385), base)).toEqual({ problem: "is invalid" });
});
