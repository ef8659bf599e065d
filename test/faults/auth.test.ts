import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import type { Sandbox } from "../support/old-sandbox/index.js";
import { sandboxForTest } from "../support/sandbox.js";
import { expectEqual, expectSeen, nthRead, runAt, sharedSandbox, syncedHome } from "./matrix.js";

const secretOf = (sandbox: Sandbox, name: keyof Sandbox["keys"]) => sandbox.keys[name]?.secret ?? "";

test.each([
  ["expired", "sync orders", 4, /rejected the key \(401\)[\s\S]*hint: create a new key/],
  ["revoked", "sync orders", 4, /rejected the key \(401\)/],
  ["no-plan", "sync orders", 5, /plan does not include \/orders[\s\S]*hint/],
  ["ip-blocked", "sync orders", 5, /not on the key's IP allowlist[\s\S]*hint: add/],
  ["only-roster", "sync orders", 5, /lacks the scope analytics:read/],
  ["only-me", "sync roster", 5, /lacks the scope roster:read/],
  ["expired", "whoami", 4, /rejected the key/],
  ["ip-blocked", "whoami", 5, /allowlist/],
  ["revoked", "verify orders", 4, /rejected the key/],
] as const)("with the key `%s`, `%s` ends with %i and says what to do", async (name, command, code, says) => {
  const sandbox = await sharedSandbox();
  const secret = secretOf(sandbox, name);
  const home = makeHome();
  // Without a mirror there is nothing to verify, whatever the key.
  if (command.startsWith("verify")) (await makeMirror(home)).db.close();
  const result = await runAt(sandbox, home, `${command} --max-wait 0s`, { key: secret });
  expectSeen(result, { code, says }, [secret, sandbox.key]);
});

test("a key that nobody knows is 401, and is not shown", async () => {
  const sandbox = await sharedSandbox();
  const key = "brk_nobody_knows_this_one";
  expectSeen(await runAt(sandbox, makeHome(), "sync", { key }), { code: 4, says: /401/ }, [key]);
});

test("without a resource, what the key's scopes do not allow is left out and listed", async () => {
  const sandbox = await sharedSandbox();
  const secret = secretOf(sandbox, "only-roster");
  const result = await runAt(sandbox, makeHome(), "sync", { key: secret });
  expectSeen(result, { code: 0, says: /orders: skipped: the key lacks the scope analytics:read/ }, [secret]);
});

test("without a resource, what the plan does not include is left out and said", async () => {
  const sandbox = await sharedSandbox();
  const { secret } = sandbox.keys["no-plan"];
  const result = await runAt(sandbox, makeHome(), "sync", { key: secret });
  expectSeen(result, { code: 0, says: /orders: .*skipped: The brand's plan does not include/ }, [secret]);
});

test("what was read before and the plan no longer includes is warned of, with `--quiet` too", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  expect((await runAt(sandbox, home, "sync orders roster", {})).code).toBe(0);
  const { secret } = sandbox.keys["no-plan"];
  const result = await runAt(sandbox, home, "sync --quiet", { key: secret });
  expectSeen(result, { code: 0, says: /orders: it was read before, and is refused now: The brand's plan/ }, [
    secret,
  ]);
  expect(result.err).not.toContain("products: it was read before");
});

test("what was read before and the key has no scope for is warned of, with `--quiet` too", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  expect((await runAt(sandbox, home, "sync codes roster", {})).code).toBe(0);
  const key = secretOf(sandbox, "only-roster");
  const result = await runAt(sandbox, home, "sync --quiet", { key });
  expectSeen(result, { code: 0, says: /codes: it was read before, and is skipped now: the key lacks/ }, [
    key,
  ]);
  expect(result.err).not.toContain("gifts:");
});

test("`verify` goes on after what is refused; a resource that was named fails", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  expect((await runAt(sandbox, home, "sync orders roster", {})).code).toBe(0);
  const { secret } = sandbox.keys["no-plan"];
  const result = await runAt(sandbox, home, "verify", { key: secret });
  expectSeen(result, { code: 0, says: /orders: it was read before, and is refused now: The brand's plan/ }, [
    secret,
  ]);
  expect(result.out).toContain("roster: proven");
  const both = await runAt(sandbox, home, "verify orders roster", { key: secret });
  expectSeen(both, { code: 8, says: /1 of 2 resources were not proven: orders: The brand's plan/ }, [secret]);
  expect(both.out).toContain("roster: proven");
  const named = await runAt(sandbox, home, "verify orders", { key: secret });
  expectSeen(named, { code: 5, says: /The brand's plan does not include/ }, [secret]);
});

test("the key expires in the middle: exit 4, the answers before are kept, and the next key goes on", async () => {
  const sandbox = await sandboxForTest({ orders: 350, pace: 0 });
  const home = makeHome();
  const isThird = nthRead(3);
  sandbox.intercept = (request) => {
    if (isThird(request)) sandbox.setKey("expiring", { expiresAt: sandbox.now() - 1 });
  };
  const { secret } = sandbox.keys.expiring;
  const result = await runAt(sandbox, home, "sync orders", { key: secret });
  expectSeen(result, { code: 4, says: /rejected the key \(401\)/ }, [secret]);
  const next = await runAt(sandbox, home, "sync orders");
  expectSeen(next, { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
  // The first answer is proven by the second, and not read again, but for the day on which it ends.
  expect(next.err).toContain("orders: 252 read, 250 new");
});

test("the plan ends in the middle: exit 5, and the answers before are kept", async () => {
  const sandbox = await sandboxForTest({ orders: 350, pace: 0 });
  const home = makeHome();
  const isThird = nthRead(3);
  sandbox.intercept = (request) => {
    if (isThird(request)) sandbox.setKey("all", { plan: false });
  };
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 5, says: /plan/ }, [sandbox.key]);
  sandbox.intercept = undefined;
  sandbox.setKey("all", { plan: true });
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("another brand's key: exit 3, and the mirror is as it was", async () => {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders");
  const path = join(home, "mirror.sqlite");
  const before = readFileSync(path);
  const { secret } = sandbox.keys["other-brand"];
  for (const command of ["sync", "sync orders --full", "verify --repair"]) {
    const result = await runAt(sandbox, home, command, { key: secret });
    expectSeen(result, { code: 3, says: /belongs to another brand[\s\S]*--profile/ }, [secret]);
  }
  expect(readFileSync(path).equals(before)).toBe(true);
  expectEqual(sandbox, home);
});

test.each([
  [401, 4],
  [402, 5],
  [403, 5],
  [404, 7],
  [500, 6],
])(
  "a %i whose body and headers echo the key: the key is not printed, not even with --verbose",
  async (status, code) => {
    const sandbox = await sharedSandbox();
    const body = JSON.stringify({ error: `No such key: ${sandbox.key} \u001b[2J` });
    const headers = {
      "content-type": "application/json",
      "www-authenticate": `Bearer realm="${sandbox.key}"`,
    };
    sandbox.intercept = () => ({ kind: "status", status, headers, body });
    const home = makeHome();
    expectSeen(await runAt(sandbox, home, "sync orders --max-wait 0s"), { code }, [sandbox.key]);
    const told = await runAt(sandbox, home, "sync orders --max-wait 0s --verbose --json");
    expect(told.code).toBe(code);
    expect(told.out + told.err).not.toContain(sandbox.key);
  },
);

test("the key's file ends in a line break, as editors write it: it is read as meant", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const file = join(home, "key");
  for (const text of [`${sandbox.key}\n`, `${sandbox.key}\r\n`]) {
    writeFileSync(file, text, { mode: 0o600 });
    const result = await runAt(sandbox, home, ["whoami", "--key-file", file], { env: { BRANDAPI_KEY: "" } });
    expect(result).toMatchObject({ code: 0 });
    expect(result.out + result.err).not.toContain(sandbox.key);
  }
});

test.each([
  ["a line break inside", (key: string) => `${key.slice(0, 9)}\n${key.slice(9)}`],
  ["a space inside", (key: string) => `${key.slice(0, 9)} ${key.slice(9)}`],
  ["quotes around it", (key: string) => `“${key}”`],
  ["a NUL inside", (key: string) => `${key}\u0000x`],
  ["the word Bearer before it", (key: string) => `Bearer ${key}`],
] as const)("a key with %s: exit 3, not shown", async (_, spoil) => {
  const sandbox = await sharedSandbox();
  const result = await runAt(sandbox, makeHome(), "whoami", { key: spoil(sandbox.key) });
  expectSeen(result, { code: 3, says: /key/ }, [sandbox.key]);
});

test.each([
  ["that is not there", (_: string) => {}, /no such file|not there|cannot be read|does not exist/i],
  ["that is a folder", (path: string) => symlinkSync("/", path), /folder/i],
  ["that is empty", (path: string) => writeFileSync(path, "", { mode: 0o600 }), /empty|holds no key/i],
] as const)("a key file %s: exit 3, and the file is named", async (_, make, says) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const file = join(home, "key");
  make(file);
  const result = await runAt(sandbox, home, ["whoami", "--key-file", file], { env: { BRANDAPI_KEY: "" } });
  expect(result.code).toBe(3);
  expect(result.err).toMatch(says);
});

test("a key file that others may read is refused with the command that mends it", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const file = join(home, "key");
  writeFileSync(file, sandbox.key);
  chmodSync(file, 0o644);
  const result = await runAt(sandbox, home, ["whoami", "--key-file", file], { env: { BRANDAPI_KEY: "" } });
  expect(result).toMatchObject({ code: 3, err: expect.stringContaining(`chmod 600 ${file}`) });
  expect(result.err).not.toContain(sandbox.key);
});
