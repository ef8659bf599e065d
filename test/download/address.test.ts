import { expect, test } from "vitest";
import { downloadPath, readFileUrl } from "../../src/download/address.js";

const base = "https://platform.example/shop/api/brand/v1";
const item = { source: "upload", id: "7d5c1a52" };
const built = "/content/upload/7d5c1a52/download";

test.each([
  ["/content/upload/7d5c1a52/download"],
  ["content/upload/7d5c1a52/download"],
  ["/shop/api/brand/v1/content/upload/7d5c1a52/download"],
  ["https://platform.example/shop/api/brand/v1/content/upload/7d5c1a52/download"],
  // The API does not know of the gateway before it.
  ["/api/brand/v1/content/upload/7d5c1a52/download"],
])("the download path %j leads below the base URL", (downloadPath_) => {
  expect(downloadPath({ ...item, downloadPath: downloadPath_ }, base)).toBe(built);
});

test.each([
  [null],
  [""],
  ["/"],
  ["//evil.example/content/upload/7d5c1a52/download"],
  ["https://evil.example/shop/api/brand/v1/content/x"],
  ["https://platform.example.evil.example/shop/api/brand/v1/content/x"],
  ["https://user@platform.example/shop/api/brand/v1/content/x"],
  ["http://platform.example/shop/api/brand/v1/content/x"],
  ["https://platform.example/elsewhere"],
  ["https://platform.example/elsewhere/on/the/same/origin"],
  ["../../../admin"],
  ["/shop/api/brand/v1/../../../admin"],
  ["/api/brand/v1/../../../admin"],
  ["\\\\evil.example\\x"],
  ["/content/x?key=1"],
  ["/content/x#y"],
  ["/content/a b"],
])("the odd download path %j gives way to the documented one", (downloadPath_) => {
  expect(downloadPath({ ...item, downloadPath: downloadPath_ }, base)).toBe(built);
});

test("ids that are no UUIDs are escaped in the documented path", () => {
  const odd = { source: "up/load", id: "../a?b#c", downloadPath: null };
  expect(downloadPath(odd, base)).toBe("/content/up%2Fload/..%2Fa%3Fb%23c/download");
  for (const id of ["..", "\ud800", "x".repeat(20_000)])
    expect(downloadPath({ ...odd, id }, base)).toBe(null);
  expect(downloadPath({ ...item, downloadPath: `/content/${"x".repeat(20_000)}` }, base)).toBe(built);
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
