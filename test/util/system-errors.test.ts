import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { errorCode, errorReason, explainSystemError, writeHint } from "../../src/util/system-errors.js";
import { makeHome } from "../support/home.js";

function systemError(code: string, message: string, properties: object = { syscall: "write" }): Error {
  return Object.assign(new Error(message), { code, ...properties });
}

const open = { syscall: "open", path: "/x" };
const listen = { syscall: "listen", port: 80 };

test.each([
  [
    "ENOSPC while /x is opened",
    "Cannot use /x: the disk is full",
    open,
    "free some space, then run the same command again",
  ],
  [
    "EDQUOT while /x is opened",
    "Cannot use /x: the disk quota is exceeded",
    open,
    "free some space, then run the same command",
  ],
  ["EACCES while /x is opened", "Cannot use /x: permission denied", open, "check the permissions"],
  ["EPERM while /x is opened", "Cannot use /x: permission denied", open, "check the permissions"],
  ["EISDIR while /x is opened", "Cannot use /x: it is a folder", open, "choose a file"],
  ["ERR_FS_EISDIR while /x is opened", "Cannot use /x: it is a folder", open, "check the path"],
  [
    "EEXIST while /x is opened",
    "Cannot use /x: a file with this name already exists",
    open,
    "choose a different name",
  ],
  [
    "EEXIST while the folder /x is created",
    "Cannot use /x: it is a file, not a folder",
    { syscall: "mkdir", path: "/x" },
    "choose a different name",
  ],
  ["ENOENT while /x is opened", "Cannot use /x: no such file or folder", open, "check the path"],
  [
    "EROFS while /x is opened",
    "Cannot use /x: read-only file system",
    open,
    "choose a file on a writable disk",
  ],
  [
    'E2BIG with the text "read-only file system" while /x is opened',
    "Cannot use /x: read-only file system",
    open,
    "check the path",
  ],
  ["ENOSPC without a path", "A system call failed: the disk is full", {}, "free some space"],
  ["EADDRINUSE from port 80", "Cannot use port 80: already in use", listen, "a different port"],
  ["EACCES from port 80", "Cannot use port 80: permission denied", listen, "a port above 1023"],
  [
    'ENOTDIR with the text "read-only file system", without a path,',
    "A system call failed: read-only file system",
    {},
    "choose a different path",
  ],
])('the system error %s is reported as "%s"', (title, message, properties, hint) => {
  const code = title.split(" ")[0] ?? "";
  const error = explainSystemError(
    systemError(code, `${code}: read-only file system, open '/x'`, properties),
  );
  expect([error?.message, error?.hint]).toEqual([message, expect.stringContaining(hint)]);
});

test("the reason reported for an unknown system error is the error's text without the code", () => {
  const reasonOf = (message: string) => errorReason(systemError("EUNKNOWN", message));
  expect(reasonOf("EMFILE: too many open files, open '/x'")).toBe("too many open files");
  expect(reasonOf("listen EADDRNOTAVAIL: not available 192.0.2.1")).toBe("not available 192.0.2.1");
  expect(reasonOf("connection lost")).toBe("connection lost");
});

test("errors that do not come from the operating system are not reported as system errors", () => {
  expect(explainSystemError(new Error("x"))).toBeUndefined();
  expect(explainSystemError(systemError("ERR_X", "x", {}))).toBeUndefined();
  expect(explainSystemError("ENOSPC")).toBeUndefined();
  expect(
    explainSystemError(new TypeError("Cannot open database because the directory does not exist"))?.message,
  ).toContain("directory does not exist");
  expect([errorReason(new Error("x")), errorReason("text")]).toEqual(["x", "text"]);
  expect([errorCode(systemError("EIO", "x")), errorCode(new Error("x")), errorCode({ code: "EIO" })]).toEqual(
    ["EIO", "", ""],
  );
});

test("the error for a deleted current folder suggests changing the folder", () => {
  const error = explainSystemError(systemError("ENOENT", "ENOENT: no such file or directory, uv_cwd"));
  expect([error?.message, error?.hint]).toEqual([
    "The current folder no longer exists.",
    expect.stringContaining("cd ~"),
  ]);
});

test("if a part of a path is a file, the error names that file", () => {
  const file = join(makeHome(), "file");
  writeFileSync(file, "");
  const reasonOf = (action: () => unknown) => {
    try {
      action();
    } catch (error) {
      return errorReason(error);
    }
    return undefined;
  };
  expect(reasonOf(() => readFileSync(join(file, "a/b")))).toBe(`\`${file}\` is a file, not a folder`);
  expect(reasonOf(() => mkdirSync(join(file, "a")))).toBe(`\`${file}\` is a file, not a folder`);
  const notFolder = (path: string) =>
    errorReason(systemError("ENOTDIR", "ENOTDIR: x", { syscall: "x", path }));
  expect(notFolder(file)).toBe("it is a file, not a folder");
  expect(notFolder("/missing/x")).toBe("part of the path is not a folder");
});

test.each([
  ["EROFS", "this file system is read-only"],
  ["EACCES", "check the permissions of this folder"],
  ["EPERM", "check the permissions of this folder"],
  ["ENOSPC", "free some space"],
  ["EDQUOT", "free some space"],
  ["EIO", "check the path"],
])("the hint for the system error %s while a file is written contains: %s", (code, hint) => {
  expect(writeHint(systemError(code, code))).toContain(hint);
});
