import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addBrandFlags } from "../../src/cli/brand-flags.js";
import { scanCommandLine } from "../../src/cli/command-line.js";
import { asBrandapiError, reportError } from "../../src/cli/error-output.js";
import {
  ApiUnavailable,
  BadRequest,
  BrandapiError,
  ConfigurationError,
  type FailureScope,
  Forbidden,
  failureScope,
  findForbidden,
  Incomplete,
  MirrorBusy,
  MirrorStale,
  MirrorUnusable,
  NotFound,
  PaymentRequired,
  Stopped,
  Unauthorized,
  UnexpectedResponse,
  UnsafeResponse,
  UsageError,
} from "../../src/errors.js";
import { errorReason, writeHint } from "../../src/util/system-errors.js";
import { makeBrand } from "../support/brand.js";
import { brandapi, testDeps } from "../support/program.js";

const withCode = (message: string, code: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

test.each([
  ["BrandapiError", 1, "defect", new BrandapiError("x")],
  ["UsageError", 2, "usage", new UsageError("x")],
  ["ConfigurationError", 3, "configuration", new ConfigurationError("x")],
  ["MirrorUnusable", 3, "mirror", new MirrorUnusable("x")],
  ["Unauthorized", 4, "unauthorized", new Unauthorized("x")],
  ["Forbidden", 5, "forbidden", new Forbidden("x")],
  ["PaymentRequired", 5, "plan", new PaymentRequired("x")],
  ["ApiUnavailable", 6, "unavailable", new ApiUnavailable("x")],
  ["UnexpectedResponse", 7, "unexpected-response", new UnexpectedResponse("x")],
  ["UnsafeResponse", 7, "unexpected-response", new UnsafeResponse("x")],
  ["BadRequest", 7, "bad-request", new BadRequest("x")],
  ["NotFound", 7, "not-found", new NotFound("x")],
  ["Incomplete", 8, "incomplete", new Incomplete("x")],
  ["MirrorBusy", 9, "busy", new MirrorBusy("x")],
  ["MirrorStale", 10, "stale", new MirrorStale("x")],
  ["Stopped by SIGHUP", 129, "stopped", new Stopped("SIGHUP")],
  ["Stopped by SIGINT", 130, "stopped", new Stopped("SIGINT")],
  ["Stopped by SIGTERM", 143, "stopped", new Stopped("SIGTERM")],
])("the error %s has exit code %i and error code `%s`", (_, exitCode, code, error) => {
  expect([error.exitCode, error.code]).toEqual([exitCode, code]);
});

const errorsByScope: [FailureScope, string, Error][] = [
  ["resource", "denied access to a resource", new Forbidden("x")],
  ["resource", "a resource that the plan does not include", new PaymentRequired("x")],
  ["resource", "an unexpected response", new UnexpectedResponse("x")],
  ["resource", "an incomplete resource", new Incomplete("x")],
  ["resource", "an outage of one endpoint", new ApiUnavailable("x")],
  ["outage", "an outage of the API", new ApiUnavailable("x", { failureScope: "outage" })],
  ["command", "a refused IP address", new Forbidden("x", { failureScope: "command" })],
  ["command", "a rejected key", new Unauthorized("x")],
  ["command", "an invalid flag", new UsageError("x")],
  ["command", "an unusable mirror", new MirrorUnusable("x")],
  ["command", "a signal", new Stopped("SIGINT")],
  ["command", "a bug", new TypeError("x")],
];

const endedBy = {
  resource: "only the work on one resource",
  outage: "all requests to the API",
  command: "the entire command",
};

test.each(errorsByScope.map(([scope, cause, error]) => [cause, endedBy[scope], scope, error] as const))(
  "an error that reports %s ends %s",
  (_cause, _ended, scope, error) => {
    expect(failureScope(error)).toBe(scope);
  },
);

test("findForbidden returns the error for denied access, even if it is the cause of an incomplete result", () => {
  const denied = new Forbidden("x");
  expect(findForbidden(denied)).toBe(denied);
  expect(findForbidden(new Incomplete("x", { cause: denied }))).toBe(denied);
  expect(findForbidden(new Incomplete("x", { cause: new Error("x") }))).toBeNull();
  expect(findForbidden(new Error("x", { cause: denied }))).toBeNull();
});

test.each<[string, Error, string]>([
  [
    "a full disk",
    withCode("ENOSPC: no space left on device, write", "ENOSPC", { path: "/d/x.csv" }),
    "Cannot use /d/x.csv: the disk is full",
  ],
  [
    "a folder that is not writable",
    withCode("EACCES: permission denied", "EACCES", { path: "/d" }),
    "Cannot use /d: permission denied",
  ],
  [
    "a read-only disk",
    withCode("read-only file system", "EROFS", { syscall: "open", path: "/d" }),
    "Cannot use /d: read-only file system",
  ],
  [
    "a mirror on a full disk",
    withCode("database or disk is full", "SQLITE_FULL"),
    "Cannot use the mirror: database or disk is full",
  ],
  [
    "a damaged mirror",
    withCode("database disk image is malformed", "SQLITE_CORRUPT"),
    "Cannot use the mirror: ",
  ],
  [
    "a file that is not a database",
    withCode("file is not a database", "SQLITE_NOTADB"),
    "Cannot use the mirror: file is not a database",
  ],
  [
    "a read-only mirror",
    withCode("attempt to write a readonly database", "SQLITE_READONLY_DBMOVED"),
    "Cannot use the mirror: ",
  ],
])("%s is reported as a configuration error with a hint", (_, thrown, message) => {
  const error = asBrandapiError(thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toContain(message);
  expect(error.hint).toBeTruthy();
  expect(error.cause).toBe(thrown);
});

test("operating system errors are reported as configuration errors, not as bugs", () => {
  const said = (code: string) => asBrandapiError(withCode(`x`, code, { syscall: "open", path: "/d/x" }));
  for (const code of Object.keys(constants.errno).filter((name) => !name.startsWith("WSA"))) {
    const { exitCode, hint, message } = said(code);
    expect({ code, exitCode }).toEqual({ code, exitCode: 3 });
    expect(message).toMatch(/^Cannot use \/d\/x: (?!E[A-Z0-9]+\b)\w/);
    expect(hint).toBeTruthy();
  }
});

test.each([
  ["EACCES", "choose another folder, or check the permissions", "permission denied"],
  ["EROFS", "choose another folder, because this file system is read-only", "read-only file system"],
  ["ENOSPC", "free some space, or choose another folder", "the disk is full"],
])("the hint for an output file that cannot be written because of %s is: %s", (code, hint, text) => {
  const cause = withCode(`${code}: ${text}, open`, code, { syscall: "open", path: "/d/x" });
  expect(errorReason(cause)).toBe(text);
  expect(writeHint(cause)).toContain(hint);
});

test("the error for a privileged port suggests a higher port", () => {
  const denied = withCode("listen EACCES: permission denied 127.0.0.1:80", "EACCES", {
    syscall: "listen",
    port: 80,
  });
  expect(asBrandapiError(denied)).toMatchObject({
    message: expect.stringMatching(/port 80.*permission denied/),
    hint: expect.stringContaining("above 1023"),
  });
});

test("the error for a deleted working directory suggests an existing folder", () => {
  const gone = withCode("ENOENT: no such file or directory, uv_cwd", "ENOENT", { syscall: "uv_cwd" });
  expect(asBrandapiError(gone).message).toContain("folder no longer exists");
});

test("a mirror that another program has locked is reported as busy, not as a bug", () => {
  for (const code of ["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED", "SQLITE_PROTOCOL"])
    expect(asBrandapiError(withCode("database is locked", code))).toMatchObject({
      exitCode: 9,
      code: "busy",
    });
});

test("expected errors are reported unchanged, but all other errors are reported as bugs", () => {
  const known = new ConfigurationError("x");
  expect(asBrandapiError(known)).toBe(known);
  expect(asBrandapiError(new TypeError("undefined is not a function"))).toMatchObject({
    exitCode: 1,
    code: "defect",
  });
  expect(asBrandapiError("thrown text").message).toContain("thrown text");
});

test("--json prints an error to stdout as one line of JSON, whether or not the error has a hint", async () => {
  const { code, out, err } = await brandapi("whoami --json");
  expect(code).toBe(3);
  expect(err).toContain("brandapi: No key and no base URL");
  expect(JSON.parse(out)).toEqual({
    error: {
      code: "configuration",
      message: expect.any(String),
      hint: expect.stringContaining("brandapi login"),
    },
  });
  const deps = testDeps();
  reportError(new BrandapiError("x"), scanCommandLine(["status", "--json"]), deps);
  expect(deps.stdout.text).toBe('{"error":{"code":"defect","message":"x","hint":null}}\n');
});

test("with --all-profiles, an error names the failed profile, and the commands in its hint include --profile", () => {
  const deps = testDeps();
  const error = new BrandapiError("x", { hint: "run `brandapi sync`" });
  reportError(error, scanCommandLine(["sync", "--json"]), deps, "acme");
  const hint = "run `brandapi sync --profile acme`";
  expect(JSON.parse(deps.stdout.text)).toEqual({
    profile: "acme",
    error: { code: "defect", message: "x", hint },
  });
  expect(deps.stderr.text).toBe(`brandapi: acme: x\n  hint: ${hint}\n`);
});

test("long arguments are abbreviated in usage errors, but not in other errors, where they could be file paths", () => {
  const long = "x".repeat(50);
  const report = (error: BrandapiError) => {
    const deps = testDeps();
    reportError(error, scanCommandLine(["status", "--db", long]), deps);
    return deps.stderr.text;
  };
  expect(report(new UsageError(`Unknown: ${long}`))).toBe("brandapi: Unknown: xxxxxxxx… (50 characters)\n");
  expect(report(new ConfigurationError(`No mirror: ${long}`))).toBe(`brandapi: No mirror: ${long}\n`);
});

test("`--json` after `--` is an argument, not an option, so errors are not printed as JSON", () => {
  const deps = testDeps();
  reportError(new BrandapiError("x"), scanCommandLine(["query", "--", "--json"]), deps);
  expect(deps.stdout.text).toBe("");
});

test("control characters in an argument are escaped in the error message", async () => {
  const { err } = await brandapi(["\u001b[2Jwhoami\u202e"]);
  expect(err).toContain("Unknown command: `\\u001b[2Jwhoami\\u202e`");
});

test("stack traces, including those of causes, are printed only with --verbose", () => {
  const error = new ConfigurationError("outer", { cause: new Error("inner") });
  const trace = (argv: string[]) => {
    const deps = testDeps();
    reportError(error, scanCommandLine(argv), deps);
    return deps.stderr.text;
  };
  expect(trace(["status"])).toBe("brandapi: outer\n");
  expect(trace(["status", "--verbose"])).toMatch(
    /brandapi: outer\n[\s\S]*at [\s\S]*Error: inner\n[\s\S]*at /,
  );
});

test("a command-line argument that contains the configured API key is rejected, and the error does not repeat the key", async () => {
  const env = { BRANDAPI_KEY: "brk_secret", BRANDAPI_BASE_URL: "https://brand.test/api/brand/v1" };
  const { code, err } = await brandapi("sync xbrk_secretx", { env });
  expect([code, err]).toEqual([2, expect.stringContaining("An API key was passed on the command line")]);
  expect(err).not.toContain("brk_secret");
});

test("in messages, hints and stack traces, control characters are escaped, and API keys are redacted", () => {
  const deps = testDeps();
  deps.apiKeys.add("brk_secret");
  const text = "brk_secret \u001b[2J";
  reportError(
    new ConfigurationError(text, { hint: text, cause: new Error(text) }),
    scanCommandLine(["status", "--verbose"]),
    deps,
  );
  expect(deps.stderr.text).not.toContain("brk_secret");
  expect(deps.stderr.text).not.toContain("\u001b");
  expect(deps.stderr.text.match(/\[key hidden\] \\u001b\[2J/g)).toHaveLength(4);
});

test("a command aborted by a signal is reported as stopped, but any other abort is reported as a bug", () => {
  const stop = new AbortController();
  const deps = testDeps({ signal: stop.signal });
  const aborted = new DOMException("aborted", "AbortError");
  expect(reportError(aborted, scanCommandLine([]), deps)).toBe(1);
  expect(deps.stderr.text).toBe(
    "brandapi: A bug in brandapi: aborted\n  hint: please report it, and include the output of `--verbose`\n",
  );
  stop.abort(new Stopped("SIGTERM"));
  expect(reportError(new UsageError("x"), scanCommandLine([]), testDeps({ signal: stop.signal }))).toBe(2);
  expect(reportError(aborted, scanCommandLine([]), deps)).toBe(143);
  expect(deps.stderr.text).toContain("brandapi: Stopped.\n");
});

const suggestions = [
  [
    "--profile acme",
    "run `brandapi sync` first, or `brandapi demo`",
    "run `brandapi sync --profile acme` first, or `brandapi demo`",
  ],
  [
    "--profile acme --db b.sqlite",
    "`brandapi verify orders --repair`",
    "`brandapi verify orders --repair --profile acme --db b.sqlite`",
  ],
  ["--profile acme", "run `brandapi backup`: x", "run `brandapi backup --profile acme`: x"],
  [
    "--profile acme",
    "run `brandapi backup --restore FILE`, or `brandapi sync --full`",
    "run `brandapi backup --restore FILE --profile acme`, or `brandapi sync --full --profile acme`",
  ],
  ["--profile acme", "`brandapi forget --host ada`", "`brandapi forget --host ada --profile acme`"],
  ["--profile acme", "see `brandapi whoami`", "see `brandapi whoami --profile acme`"],
  ["--profile acme --db b.sqlite", "then `brandapi login`", "then `brandapi login --profile acme`"],
  [
    "--profile acme --db b.sqlite",
    "choose another file with `--db`, or run `brandapi sync`",
    "choose another file with `--db`, or run `brandapi sync --profile acme --db b.sqlite`",
  ],
  [
    "--profile acme",
    "run `brandapi login --profile acme`, then `brandapi sync`",
    "run `brandapi login --profile acme`, then `brandapi sync --profile acme`",
  ],
  [
    "--base-url https://b.example/api/brand/v1 --key-file key.txt",
    "run `brandapi sync orders`, `brandapi status`, or `brandapi query -f x.sql`",
    "run `brandapi sync orders --base-url https://b.example/api/brand/v1 --key-file key.txt`, `brandapi status`, or `brandapi query -f x.sql`",
  ],
  [
    "--db b.sqlite --base-url https://b.example/api/brand/v1 --key-file key.txt",
    "run `brandapi login`",
    "run `brandapi login --base-url https://b.example/api/brand/v1`",
  ],
] as const;

const completed = (text: string, options: string) => {
  return addBrandFlags(text, scanCommandLine(["status", ...options.split(" ")]), {});
};

test.each(suggestions.map(([options, text, expected]) => [options, expected, text]))(
  "after a command with %s fails, the hint repeats the options that apply: %s",
  (options, expected, text) => {
    expect(completed(text, options)).toBe(expected);
  },
);

test.each([
  ["--profile acme", "see `brandapi sync --help`"],
  ["--profile acme", "run `brandapi login --profile acme`"],
  [
    "--profile acme --db b.sqlite",
    "`brandapi completion zsh`, `brandapi demo`, `brandapi help`, `brandapi profiles`, `brandapi sandbox`",
  ],
  ["--db b.sqlite", "run `brandapi status --db a.sqlite`"],
  ["--quiet", "run `brandapi sync orders`"],
])("after a command with %s fails, this hint is printed without added options: %s", (options, text) => {
  expect(completed(text, options)).toBe(text);
});

test("hints add the profile from BRANDAPI_PROFILE to `brandapi login`, but to no other command", () => {
  const text = "run `brandapi login`, then `brandapi sync`";
  const expected = "run `brandapi login --profile acme`, then `brandapi sync`";
  expect(addBrandFlags(text, {}, { BRANDAPI_PROFILE: "acme" })).toBe(expected);
});

test("suggested commands repeat --base-url and --key-file, except for an address with a password and a key file that does not exist, which could be a key", async () => {
  const brand = makeBrand();
  const { BRANDAPI_BASE_URL: url = "", BRANDAPI_KEY: key = "" } = await brand.served();
  writeFileSync(join(brand.home, "key.txt"), key, { mode: 0o600 });
  const given = `--base-url ${url} --key-file key.txt`;
  const run = async (command: string) => (await brandapi(`${command} ${given}`, { home: brand.home })).err;
  expect(await run("verify")).toContain(`\`brandapi sync ${given}\``);
  expect(await run("sync roster")).not.toContain("`");
  expect(await run("sync --omit host.name")).toContain(`then run \`brandapi sync ${given}\`\n`);
  const unsafe = "--base-url https://u:pw@x.example/api/brand/v1 --key-file bk_live_1234567890";
  const { err } = await brandapi(`sync --omit host.name ${unsafe}`, { home: brand.home });
  expect(err).toContain("then run `brandapi sync`\n");
  expect(await run("export orders --csv")).toContain(`\`brandapi sync orders ${given}\``);
  expect(await run("login")).toContain("Next: `brandapi sync`.");
});

test("hints quote the mirror's path for the shell", async () => {
  const { err } = await brandapi(["export", "orders", "--csv", "--db", "it's new.sqlite"]);
  expect(err).toContain("`brandapi sync --db 'it'\\''s new.sqlite'`");
});

test.each([
  ["sync --profile login --bad", "sync"],
  ["--profile login sync --bad", "sync"],
  ["--profile=login sync --bad", "sync"],
  ["--quiet --db sync verify --bad", "verify"],
  ["export orders --where login --bad", "export"],
])("the error for `brandapi %s` refers to `brandapi %s --help`", async (command, name) => {
  const { code, err } = await brandapi(command);
  expect([code, err]).toEqual([2, expect.stringContaining(`see \`brandapi ${name} --help\``)]);
});
