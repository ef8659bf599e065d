import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { asBrandapiError } from "../../src/cli/error-output.js";
import { configPath, platformFolder } from "../../src/config/folders.js";
import { requireCredentials } from "../../src/config/missing-credentials.js";
import { type GlobalFlags, parseRateLimit, readSettings } from "../../src/config/settings.js";
import { readProfilesWithKey, unknownFieldHint, writeProfiles } from "../../src/config/stored-profiles.js";
import { findMisspelledVariables } from "../../src/config/variables.js";
import type { Deps, Env } from "../../src/deps.js";
import type { BrandapiError } from "../../src/errors.js";
import { makeBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { brandapi, testDeps } from "../support/program.js";
import { visible } from "../support/visible.js";

const url = (host: string) => `https://${host}.example/api/brand/v1`;

interface World {
  env?: Env;
  home?: string;
  platform?: Deps["platform"];
  /** The content of the config file. By default, there is no config file. */
  config?: string;
  /** The mode of the config file. By default, only the owner can read the file. */
  mode?: number;
}

function world({ home = makeHome(), config, mode = 0o600, ...rest }: World = {}): Deps {
  if (config !== undefined) write(join(home, ".config/brandapi/config.json"), config, mode);
  return testDeps({ home, ...rest });
}

function write(path: string, text: string, mode = 0o600): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function failure(options: GlobalFlags, deps: Deps): BrandapiError {
  try {
    readSettings(options, deps);
  } catch (error) {
    return asBrandapiError(error);
  }
  throw new Error("the settings were accepted");
}

test("flags override environment variables, which override the profile", async () => {
  const home = makeHome();
  const keyFile = write(join(home, "key"), "brk_flag\n");
  const config = JSON.stringify({
    profiles: { default: { baseUrl: url("profile"), key: "brk_profile", db: "~/profile.sqlite" } },
  });
  const env = {
    BRANDAPI_BASE_URL: url("env"),
    BRANDAPI_KEY: "brk_env",
    BRANDAPI_DB: "env.sqlite",
    BRANDAPI_RATE_LIMIT: "70",
  };
  const flags = { baseUrl: url("flag"), keyFile, db: join(home, "flag.sqlite"), rateLimit: 80, maxWait: 5 };

  const bare = readSettings({}, world());
  expect(bare).toMatchObject({
    profile: "default",
    baseUrl: undefined,
    key: undefined,
    rateLimit: 60,
    maxWaitMs: 300_000,
  });
  for (const purpose of ["ask", "login"] as const)
    expect(readSettings({}, world(), purpose).maxWaitMs).toBe(15_000);
  const profile = readSettings({}, world({ home, config }));
  expect(profile).toMatchObject({
    baseUrl: url("profile"),
    key: "brk_profile",
    keySource: "profile",
    dbPath: join(home, "profile.sqlite"),
  });
  const environment = readSettings({}, world({ home, config, env }));
  expect(environment).toMatchObject({
    baseUrl: url("env"),
    key: "brk_env",
    keySource: "variable",
    dbPath: join(home, "env.sqlite"),
    rateLimit: 70,
  });
  const flag = readSettings(flags, world({ home, config, env }));
  expect(flag).toMatchObject({
    baseUrl: url("flag"),
    key: "brk_flag",
    keySource: "file",
    dbPath: join(home, "flag.sqlite"),
    rateLimit: 80,
    maxWaitMs: 5,
  });
});

test("the configured key is redacted in all output once the settings have been read", () => {
  const deps = world({ env: { BRANDAPI_KEY: " brk_a\n" } });
  readSettings({}, deps);
  expect([...deps.apiKeys]).toEqual(["brk_a"]);
});

test.each([
  ["base URL", { baseUrl: "http://api.example/api/brand/v1" }],
  ["key", { baseUrl: url("a"), key: "brk_a b" }],
])("the error for an invalid %s in a profile names the profile and the config file", (what, profile) => {
  const deps = world({ config: JSON.stringify({ profiles: { default: profile } }) });
  expect(failure({}, deps).message).toContain(
    `The ${what} from the profile \`default\` in ${configPath(deps)}`,
  );
});

test("with --profile, the mirror, base URL and key in the environment are ignored", async () => {
  const config = JSON.stringify({ profiles: { acme: { baseUrl: url("acme"), key: "brk_acme" } } });
  const env = { BRANDAPI_BASE_URL: url("env"), BRANDAPI_KEY: "brk_env", BRANDAPI_DB: "env.sqlite" };
  const deps = world({ config, env });
  const acme = { baseUrl: url("acme"), key: "brk_acme" };
  const named = readSettings({ profile: "acme" }, deps);
  expect(named).toMatchObject({ ...acme, dbPath: join(deps.home, ".local/share/brandapi/acme.sqlite") });
  const fromEnv = readSettings({}, { ...deps, env: { ...env, BRANDAPI_PROFILE: "acme" } });
  expect(fromEnv).toMatchObject({
    baseUrl: url("env"),
    key: "brk_env",
    dbPath: join(deps.home, "env.sqlite"),
  });
  const login = readSettings({ profile: "new" }, deps, "login");
  expect(login).toMatchObject({ baseUrl: undefined, key: undefined });
});

test("a mirror path in a folder that does not exist is rejected with exit code 3", async () => {
  const profiles = { stored: { db: "gone/m.sqlite" } };
  const deps = world({ config: JSON.stringify({ profiles }), env: { BRANDAPI_DB: "gone/m.sqlite" } });
  for (const options of [{ db: "gone/m.sqlite" }, {}, { profile: "stored" }]) {
    const error = failure(options, deps);
    const folder = join(deps.home, "gone");
    expect(error).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`does not exist: ${folder}`),
    });
    expect(error.hint).toContain(`mkdir -p ${folder}`);
  }
});

test("an empty environment variable is treated as unset", async () => {
  const env = {
    BRANDAPI_KEY: "",
    BRANDAPI_BASE_URL: "",
    BRANDAPI_PROFILE: "",
    BRANDAPI_DB: "",
    BRANDAPI_RATE_LIMIT: "",
    BRANDAPI_CONFIG_DIR: "",
  };
  const deps = world({ env });
  expect(readSettings({}, deps)).toMatchObject({
    profile: "default",
    baseUrl: undefined,
    key: undefined,
    dbPath: join(deps.home, ".local/share/brandapi/default.sqlite"),
    rateLimit: 60,
  });
  expect(configPath(deps)).toBe(join(deps.home, ".config/brandapi/config.json"));
});

test("a profile provides the ping URL, the omitted fields and, unless --db names a different mirror, the brand", async () => {
  const stored = {
    brandId: "b1",
    brandName: "Acme",
    ping: "https://hc.example/x",
    omit: "title, host.intro",
  };
  const profiles = { default: stored, unnamed: { brandId: "b2" }, unknown: { brandName: "Acme" } };
  const deps = world({ config: JSON.stringify({ profiles }) });
  expect(readSettings({}, deps)).toMatchObject({
    brand: { id: "b1", name: "Acme" },
    ping: "https://hc.example/x",
    omit: ["title", "host.intro"],
  });
  expect(readSettings({}, deps).unknownFields).toEqual([]);
  expect(readSettings({ profile: "unnamed" }, deps).brand).toEqual({ id: "b2", name: "b2" });
  expect(readSettings({ profile: "unknown" }, deps).brand).toBeUndefined();
  expect(readSettings({ db: "other.sqlite" }, deps).brand).toBeUndefined();
});

test("a profile name that resembles a stored one is rejected unless the command is login or the profile's mirror exists", async () => {
  const deps = world({ config: JSON.stringify({ profiles: { acme: { key: "brk_a" } } }) });
  const mistyped = { profile: "acmee" };
  expect(failure(mistyped, deps)).toMatchObject({
    exitCode: 2,
    hint: expect.stringContaining("did you mean `acme`?"),
  });
  expect(() => readSettings(mistyped, deps, "ask")).toThrow("Unknown profile: `acmee`.");
  expect(readSettings(mistyped, deps, "login").profile).toBe("acmee");
  write(join(deps.home, ".local/share/brandapi/acmee.sqlite"), "");
  expect(readSettings(mistyped, deps).profile).toBe("acmee");
});

test.each([
  ["A.b-c_9", "A.b-c_9"],
  ["-x", "-x"],
  ["_", "_"],
  ["a name of 100 characters", "a".repeat(100)],
])("%s is accepted as a profile name", async (_, profile) => {
  expect(readSettings({ profile }, world(), "login").profile).toBe(profile);
});

test("profiles do not share keys or mirrors", async () => {
  const deps = world({ config: JSON.stringify({ profiles: { acme: { key: "brk_acme" } } }) });
  const acme = readSettings({ profile: "acme" }, deps);
  expect(acme.key).toBe("brk_acme");
  expect(acme.dbPath).toBe(join(deps.home, ".local/share/brandapi/acme.sqlite"));
  expect(readSettings({}, deps).dbPath).toBe(join(deps.home, ".local/share/brandapi/default.sqlite"));
});

test("an empty profile name is rejected with exit code 2", () => {
  const error = failure({ profile: "" }, world());
  expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining("``") });
});

test.each([
  ['".hidden"', ".hidden"],
  ['"a/b"', "a/b"],
  ['".."', ".."],
  ['"a b"', "a b"],
  ['"ü"', "ü"],
  ["a name of 101 characters", "a".repeat(101)],
])(
  "%s is rejected as a profile name with exit code 2 in --profile, and with code 3 in BRANDAPI_PROFILE",
  async (_, profile) => {
    const typed = failure({ profile }, world());
    expect(typed).toMatchObject({ exitCode: 2, message: expect.stringContaining(`\`${profile}\``) });
    const set = failure({}, world({ env: { BRANDAPI_PROFILE: profile } }));
    expect(set).toMatchObject({ exitCode: 3, message: typed.message });
  },
);

test("a profile named __proto__ works like any other profile", async () => {
  const config = `{"profiles": {"__proto__": {"key": "brk_proto"}}}`;
  expect(readSettings({ profile: "__proto__" }, world({ config })).key).toBe("brk_proto");
  expect(readSettings({ profile: "__proto__" }, world()).key).toBeUndefined();
});

test("the program's folders depend on the platform and the XDG variables", async () => {
  const folders = async (deps: Deps) => {
    const { dbPath } = readSettings({}, deps);
    const paths = [dirname(configPath(deps)), dirname(dbPath), platformFolder("state", deps)];
    return paths.map((path) => path.replace(deps.home, "~"));
  };
  expect(await folders(world())).toEqual([
    "~/.config/brandapi",
    "~/.local/share/brandapi",
    "~/.local/state/brandapi",
  ]);
  const mac = "~/Library/Application Support/brandapi";
  expect(await folders(world({ platform: "darwin" }))).toEqual([mac, mac, mac]);
  const xdg = { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d", XDG_STATE_HOME: "relative/ignored" };
  expect(await folders(world({ env: xdg }))).toEqual([
    "/c/brandapi",
    "/d/brandapi",
    "~/.local/state/brandapi",
  ]);
  const own = { BRANDAPI_CONFIG_DIR: "/own", XDG_CONFIG_HOME: "/c" };
  expect((await folders(world({ env: own })))[0]).toBe("/own");
  expect((await folders(world({ env: { BRANDAPI_CONFIG_DIR: "~" } })))[0]).toBe("~");
  const appData = { APPDATA: "/roaming", LOCALAPPDATA: "/local" };
  expect(await folders(world({ platform: "win32", env: appData }))).toEqual([
    "/roaming/brandapi",
    "/local/brandapi",
    "/local/brandapi",
  ]);
  const local = "~/AppData/Local/brandapi";
  expect(await folders(world({ platform: "win32" }))).toEqual(["~/AppData/Roaming/brandapi", local, local]);
});

test("if there is no home directory, the error names the environment variables to set", async () => {
  const error = failure({}, { ...world(), home: "" });
  expect(error).toMatchObject({ exitCode: 3, hint: expect.stringContaining("set HOME") });
  const env = { BRANDAPI_CONFIG_DIR: "/c", BRANDAPI_DB: "/m.sqlite" };
  const deps = { ...world({ env }), home: "" };
  expect(readSettings({}, deps)).toMatchObject({ dbPath: "/m.sqlite" });
  expect(() => platformFolder("state", deps)).toThrow("Cannot determine the home directory");
});

test.each([
  ["not a url", "does not start with https://"],
  ["https://not a url", "is not a URL"],
  ["http://not a url", "is not a URL"],
  ["api.example/api/brand/v1", "does not start with https://"],
  ["me:secret@api.example/api/brand/v1", "does not start with https://"],
  ["http://api.example/api/brand/v1", "uses plain http"],
  ["http://127.evil.example/api/brand/v1", "uses plain http"],
  ["http://localhost.evil.example/api/brand/v1", "uses plain http"],
  ["ftp://api.example/api/brand/v1", "does not start with https://"],
  [
    "https://me:secret@api.example/api/brand/v1",
    "must not have a username, a password, a query or a fragment",
  ],
  ["https://:secret@api.example/api/brand/v1", "must not have a username, a password, a query or a fragment"],
  [
    "https://api.example/api/brand/v1?key=brk_x",
    "must not have a username, a password, a query or a fragment",
  ],
  ["https://api.example/api/brand/v1#top", "must not have a username, a password, a query or a fragment"],
  ["https://api.example:99999/api/brand/v1", "is not a URL"],
  ["https://api.example/", "does not end in /api/brand/v1"],
  ["https://api.example/api/brand/v2", "does not end in /api/brand/v1"],
  ["https://api.example/api/brand/v1/orders", "does not end in /api/brand/v1"],
])("the base URL `%s` is rejected with exit code 3 because it %s", async (baseUrl, message) => {
  const error = failure({ baseUrl }, world());
  expect(error.exitCode).toBe(3);
  expect(error.message).toContain(`The base URL from --base-url ${message}`);
  expect(error.message + error.hint).not.toMatch(/secret|brk_x/);
});

test.each([
  ["https://api.example/api/brand/v1//", "https://api.example/api/brand/v1"],
  ["HTTPS://API.example:8443/eu/api/brand/v1", "https://api.example:8443/eu/api/brand/v1"],
  ["http://127.0.0.1:4010/api/brand/v1", "http://127.0.0.1:4010/api/brand/v1"],
  ["http://127.9.9.9/api/brand/v1", "http://127.9.9.9/api/brand/v1"],
  ["http://[::1]:4010/api/brand/v1", "http://[::1]:4010/api/brand/v1"],
  ["http://localhost:4010/api/brand/v1", "http://localhost:4010/api/brand/v1"],
])("the base URL `%s` is normalized to `%s`", async (baseUrl, expected) => {
  expect(readSettings({ baseUrl }, world()).baseUrl).toBe(expected);
});

test.each(
  ["brk_a b", "brk_a\nbrk_b", "brk_a\u0007", "brk_ä", "brk_a\u200b"].map((key) => [visible(key), key]),
)("the key %s is rejected with exit code 3 and not printed", async (_, key) => {
  const error = failure({}, world({ env: { BRANDAPI_KEY: key } }));
  expect(error.exitCode).toBe(3);
  expect(error.message).toContain("The key from BRANDAPI_KEY contains a space");
  expect(error.message + error.hint).not.toContain("brk_");
});

test("a key of 16,384 characters is accepted, and a longer key is rejected", async () => {
  const deps = (length: number) => world({ env: { BRANDAPI_KEY: "k".repeat(length) } });
  expect(readSettings({}, deps(16_384)).key).toHaveLength(16_384);
  expect(failure({}, deps(16_385)).exitCode).toBe(3);
});

test.each(
  ["brk_a\n", "brk_a\r\n", "brk_a", "\ufeffbrk_a\n", "brk_a ", " brk_a\n\n"].map((text) => [
    visible(text),
    text,
  ]),
)("a key file with the content %s provides the key brk_a", async (_, text) => {
  const deps = world();
  write(join(deps.home, "key"), text);
  expect(readSettings({ keyFile: "~/key" }, deps).key).toBe("brk_a");
});

test("a key file in UTF-16, the encoding that Windows PowerShell uses, can be read", async () => {
  const deps = world();
  const path = write(join(deps.home, "key"), "");
  writeFileSync(path, Buffer.from("\ufeffbrk_a\r\n", "utf16le"));
  expect(readSettings({ keyFile: "~/key" }, deps).key).toBe("brk_a");
});

test("a config file with a byte order mark can be read", async () => {
  const config = `\ufeff${JSON.stringify({ profiles: { default: { key: "brk_a" } } })}`;
  expect(readSettings({}, world({ config })).key).toBe("brk_a");
});

test("a key file that other users can read is rejected, and the hint contains the chmod command that fixes it", async () => {
  const deps = world();
  const path = write(join(deps.home, "my key"), "brk_a\n", 0o640);
  const error = failure({ keyFile: "my key" }, deps);
  expect(error).toMatchObject({ exitCode: 3, hint: `run \`chmod 600 '${path}'\`` });
  chmodSync(path, 0o400);
  expect(readSettings({ keyFile: "my key" }, deps).key).toBe("brk_a");
});

test("except on Windows, a key file is rejected if its group or other users have any permissions", async () => {
  const deps = world();
  const path = write(join(deps.home, "key"), "brk_a");
  for (const mode of [0o610, 0o620, 0o640, 0o601, 0o602, 0o604]) {
    chmodSync(path, mode);
    expect([mode, failure({ keyFile: "key" }, deps).hint]).toEqual([mode, `run \`chmod 600 ${path}\``]);
    expect(readSettings({ keyFile: "key" }, { ...deps, platform: "win32" }).key).toBe("brk_a");
  }
  chmodSync(path, 0o700);
  expect(readSettings({ keyFile: "key" }, deps).key).toBe("brk_a");
});

test("if a key file is a device or a pipe, its permissions are not checked", async () => {
  expect(failure({ keyFile: "/dev/null" }, world()).message).toBe(
    "The key from the file /dev/null is empty.",
  );
});

test.each([
  [
    "contains the path if a folder above it exists",
    (home: string) => `${home}/missing/${"k".repeat(40)}`,
    true,
  ],
  ["contains the path if it begins with ~/", () => `~/missing/${"k".repeat(40)}`, true],
  ["does not repeat a value without slashes, which could be a key", () => "k".repeat(41), false],
  [
    "does not repeat a relative path in a missing folder, which could be a key",
    () => `k/${"k".repeat(40)}`,
    false,
  ],
  [
    "does not repeat an absolute path without an existing folder, which could be a key",
    () => `/kk/${"k".repeat(40)}`,
    false,
  ],
])("the error for a missing key file %s", async (_, keyFile, isQuoted) => {
  const deps = world();
  const { exitCode, message, hint } = failure({ keyFile: keyFile(deps.home) }, deps);
  expect([exitCode, message]).toEqual([3, expect.stringContaining("does not exist: ")]);
  expect(message.includes("k".repeat(40))).toBe(isQuoted);
  expect(hint).toContain("`--key-file` takes the path of a file");
});

test("the error for a key file that is a folder states that it is a folder", async () => {
  expect(failure({ keyFile: "~" }, world()).message).toContain("The key file is a folder");
});

test("a missing or empty key file is rejected, and the error names its path", async () => {
  const deps = world();
  write(join(deps.home, "empty"), "");
  const empty = failure({ keyFile: "empty" }, deps);
  expect(empty).toMatchObject({ exitCode: 3, message: expect.stringContaining(join(deps.home, "empty")) });
  const missing = failure({ keyFile: "missing" }, deps);
  expect(missing).toMatchObject({
    exitCode: 3,
    message: expect.stringContaining("does not exist: missing"),
  });
});

test("a config file that other users can read is rejected only if it contains a key", async () => {
  const config = (profile: object) => JSON.stringify({ profiles: { default: profile } });
  const loose = world({ config: config({ key: "brk_a" }), mode: 0o644 });
  const error = failure({}, loose);
  expect(error.exitCode).toBe(3);
  expect(error.hint).toBe(`run \`chmod 600 ${join(loose.home, ".config/brandapi/config.json")}\``);
  const invented = world({ config: config({ key: "brk_a" }), mode: 0o777 });
  expect(failure({}, invented).hint).toMatch(
    /^run `chmod 600 \S+`; if that has no effect, the file system does not support permissions, so set `BRANDAPI_CONFIG_DIR`/,
  );
  const harmless = world({ config: config({ baseUrl: url("a") }), mode: 0o644 });
  expect(readSettings({}, harmless).baseUrl).toBe(url("a"));
});

test("a stored key is sent only to the origin for which it was stored", async () => {
  const config = JSON.stringify({ profiles: { default: { baseUrl: url("own"), key: "brk_a" } } });
  for (const [flags, env] of [
    [{ baseUrl: url("other") }, {}],
    [{}, { BRANDAPI_BASE_URL: url("other") }],
    [{ baseUrl: url("own").replace("example", "example:8443") }, {}],
  ] as const) {
    const deps = world({ config, env });
    expect(() => requireCredentials(readSettings(flags, deps), deps)).toThrow(
      expect.objectContaining({
        exitCode: 3,
        message: expect.stringMatching(
          /^No key for the profile `default` at https:\/\/(other|own)\.example.* The stored key is for https:\/\/own\.example\.$/,
        ),
        hint: expect.stringContaining("run `brandapi login --base-url https://o"),
      }),
    );
  }
  const gateway = url("own").replace("/api", "/gateway/api");
  const own = world({ config });
  expect(requireCredentials(readSettings({ baseUrl: gateway }, own), own).key).toBe("brk_a");
  const env = { BRANDAPI_BASE_URL: url("other"), BRANDAPI_KEY: "brk_b" };
  const other = world({ config, env });
  expect(requireCredentials(readSettings({}, other), other).key).toBe("brk_b");
  const anywhere = world({ config: JSON.stringify({ profiles: { default: { key: "brk_c" } } }) });
  expect(readSettings({ baseUrl: url("other") }, anywhere).key).toBe("brk_c");
  const invalid = JSON.stringify({ profiles: { default: { baseUrl: "own", key: "brk_d" } } });
  expect(readSettings({ baseUrl: url("other") }, world({ config: invalid })).key).toBeUndefined();
});

test("login stores profiles in a config file that only its owner can read, and keeps the file's other fields", async () => {
  const stored = { a: { key: "brk_a", color: "red" }, b: { baseUrl: url("b") } };
  const deps = world({ config: JSON.stringify({ comment: "mine", profiles: { old: {} } }), mode: 0o644 });
  await writeProfiles(new Map(Object.entries(stored)), deps);
  expect(JSON.parse(readFileSync(configPath(deps), "utf8"))).toEqual({ comment: "mine", profiles: stored });
  expect(statSync(configPath(deps)).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(configPath(deps)))).toEqual(["config.json"]);
  expect(readProfilesWithKey(deps)).toEqual([["a", stored.a]]);
});

test.each([
  `{"profiles": {"default": {"key": "brk_secret"`,
  `brk_secret`,
  `["brk_secret"]`,
  `{"profiles": ["brk_secret"]}`,
  `{"profiles": {"default": "brk_secret"}}`,
  `{"profiles": {"default": {"key": {"a": "brk_secret"}}}}`,
  `{"profiles": {"default": {"key": "brk_secret", "db": 5}}}`,
  `{"profiles": {"default": {"brk_a_secret_that_was_pasted_as_a_field_name": 5}}}`,
])(
  "a config file with the content `%s` is rejected with an error that contains its path, but not its content",
  async (config) => {
    const deps = world({ config });
    const error = failure({}, deps);
    const path = join(deps.home, ".config/brandapi/config.json");
    expect(error).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(path),
    });
    expect(`${error.hint}${error.stack}${JSON.stringify(error.cause ?? "")}`).not.toContain("secret");
  },
);

test.each([
  [`{"profils": {}}`, "rename `profils` to `profiles`"],
  [`{"profiles": {"acme": {"key": "brk_a", "db": 5}}}`, "`db` of the profile `acme` is not a string"],
  [`{"profiles": {"acme": {"rate_limit": 30}}}`, "`rate_limit` of the profile `acme` is not supported"],
  [`{"profiles": {"acme": {"pign": 30}}}`, "rename it to `ping`"],
  [`{"profiles": {"acme": 5}}`, "the profile `acme`, which is not an object"],
  [`{"brands": {}}`, "add the missing `profiles` object"],
  [`{"profils": {}, "profiles": 5}`, "add the missing `profiles` object"],
  [`[]`, "put the profiles in an object"],
  [`{"profiles": `, "fix the line, or move the file away and run `brandapi login` for each profile"],
])("the hint for the invalid config file `%s` contains: %s", async (config, hint) => {
  expect(failure({}, world({ config })).hint).toContain(hint);
});

test.each(["status", "whoami", "export orders --csv"])(
  "`brandapi %s` reports an unknown profile and suggests `brandapi profiles`",
  async (command) => {
    const { home } = world({ config: JSON.stringify({ profiles: { default: { key: "brk_a" } } }) });
    const { code, err } = await brandapi(`${command} --profile other`, { home });
    expect([code, err]).toEqual([3, expect.stringContaining("Unknown profile: `other`.")]);
    expect(err).toContain("`brandapi profiles`");
  },
);

test("the error for missing credentials names misspelled environment variables", async () => {
  const env = { BRANDAPI_API_KEY: "brk_a", BRANDAPI_URL: url("a") };
  const deps = world({ env });
  expect(() => requireCredentials(readSettings({}, deps), deps)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining("`BRANDAPI_API_KEY` and `BRANDAPI_URL` are not used."),
      hint: "did you mean `BRANDAPI_KEY` and `BRANDAPI_BASE_URL`?",
    }),
  );
});

test.each([
  ["127.0.0.1:4010/api/brand/v1", "http://127.0.0.1:4010/api/brand/v1"],
  ["localhost:4010/api/brand/v1", "http://localhost:4010/api/brand/v1"],
  ["[::1]:4010/api/brand/v1", "http://[::1]:4010/api/brand/v1"],
  ["api.example/eu/api/brand/v1", "https://api.example/eu/api/brand/v1"],
  ["LOCALHOST:4010/api/brand/v1", "http://localhost:4010/api/brand/v1"],
  ["https//api.example/api/brand/v1", "https://api.example/api/brand/v1"],
  ["HTTPS/api.example/api/brand/v1", "https://api.example/api/brand/v1"],
  ["https;//api.example/api/brand/v1", "https://api.example/api/brand/v1"],
  ["https://api.example/eu/", "https://api.example/eu/api/brand/v1"],
  ["http//localhost:4010/api/brand/v1", "http://localhost:4010/api/brand/v1"],
  ["http://api.example/api/brand/v1", "https://api.example/api/brand/v1"],
  ["https://api.example/api/brand/v2", "https://api.example/api/brand/v1"],
])("the hint for the base URL `%s` suggests `%s`, which is accepted", async (baseUrl, meant) => {
  expect(failure({ baseUrl }, world()).hint).toBe(`did you mean ${meant}?`);
  expect(readSettings({ baseUrl: meant }, world()).baseUrl).toBe(meant);
});

test.each([
  ["BRANDAPI_BASE_URL", `"${url("a")}"`, "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_BASE_URL", `'${url("a")}'`, "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_BASE_URL", "$API_URL", "is a variable that was not expanded: `$API_URL`", "write the value"],
  ["BRANDAPI_DB", '"brand.sqlite"', "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_DB", "$DATA/brand.sqlite", "is a variable that was not expanded: `$DATA`", "write the value"],
  [
    "BRANDAPI_DB",
    `\${DATA}/b.sqlite`,
    `is a variable that was not expanded: \`\${DATA}\``,
    "write the value",
  ],
  ["BRANDAPI_PING", '"https://hc.example"', "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_RATE_LIMIT", "'60'", "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_PROFILE", '"acme"', "is in quotation marks", "remove the quotes"],
  ["BRANDAPI_CONFIG_DIR", "$HOME/config", "is a variable that was not expanded: `$HOME`", "write the value"],
])("the setting %s=%s is rejected with exit code 3 because it %s", async (name, value, fault, hint) => {
  const error = failure({}, world({ env: { [name]: value } }));
  expect([error.exitCode, error.message, error.hint]).toEqual([
    3,
    expect.stringContaining(`${name} ${fault}`),
    expect.stringContaining(hint),
  ]);
});

test("a flag overrides an environment variable whose value is in quotation marks", async () => {
  const env = { BRANDAPI_DB: '"brand.sqlite"', BRANDAPI_RATE_LIMIT: '"60"' };
  expect(readSettings({ db: "other.sqlite", rateLimit: 30 }, world({ env })).rateLimit).toBe(30);
  const quoted = { BRANDAPI_PROFILE: '"acme"', BRANDAPI_DB: '"brand.sqlite"' };
  expect(readSettings({ profile: "acme" }, world({ env: quoted })).profile).toBe("acme");
});

test("the error for a config file that is not JSON contains the line number and the syntax error, but none of the file's text", async () => {
  const config = '{\n  "profiles": {\n    "a": {"key": "brk_secret",}\n  }\n}';
  const error = failure({}, world({ config }));
  expect(error).toMatchObject({
    exitCode: 3,
    message: expect.stringContaining("not valid JSON (line 3: a comma before a closing bracket"),
  });
  expect(`${error.message}${error.hint}`).not.toMatch(/brk_|delete/);
});

test("the error for a base URL without a scheme contains the URL unless the URL could be a key or contains a password", async () => {
  const address = failure({ baseUrl: "api.example/api/brand/v1" }, world());
  expect(address.message).toContain("does not start with https://: api.example/api/brand/v1.");
  const long = failure({ baseUrl: `${"eu.".repeat(20)}example/api/brand/v1` }, world());
  expect(long.message).toMatch(/https:\/\/: eu\.eu\.eu… \(80 characters\)\.$/);
  const port = failure({ baseUrl: "localhost:99999/api/brand/v1" }, world());
  expect(port.hint).toBe("use an address such as https://platform.example/api/brand/v1");
  for (const baseUrl of ["brk_a", "brk_a/b", "me:secret@api.example/api/brand/v1"])
    expect(failure({ baseUrl }, world()).message).toMatch(/https:\/\/\.$/);
});

test("commands print a note about environment variables whose names resemble the program's variables", async () => {
  const brand = makeBrand({ history: 3 });
  const env = {
    ...brand.env,
    BRANDAPI_RATE_LIMIT: "",
    BRANDAPI_RATELIMIT: "30",
    BRANDAPI_PROFIL: "acme",
    BRANDAPI_OTHER: "x",
  };
  // A misspelled variable is not reported if the matching flag is set, because a script may pass the variable's
  // value to the flag.
  const scripted = { ...brand.env, BRANDAPI_MIRROR: brand.db, BRANDAPI_DB: "" };
  expect((await brand.run(["sync", "roster", "--db", brand.db], { env: scripted })).err).not.toContain(
    "not used",
  );
  for (const command of ["sync roster", "status", "whoami", "export roster --csv"]) {
    const { code, err } = await brand.run(command, { env });
    expect(code).toBe(0);
    expect(err).toContain("`BRANDAPI_RATELIMIT` is not used: did you mean `BRANDAPI_RATE_LIMIT`?");
    expect(err).toContain("`BRANDAPI_PROFIL` is not used: did you mean `BRANDAPI_PROFILE`?");
    expect(err).not.toContain("OTHER");
  }
  const { out } = await brand.run("doctor", { env });
  expect(out).toMatch(/settings: .*BRANDAPI_RATELIMIT is not used\n +did you mean BRANDAPI_RATE_LIMIT\?/s);
});

test.each([
  ["apiKey", "key"],
  ["api_key", "key"],
  ["accessToken", "key"],
  ["secret", "key"],
  ["brand_key", "key"],
  ["URL", "baseUrl"],
  ["host", "baseUrl"],
  ["endpoint", "baseUrl"],
  ["server", "baseUrl"],
  ["mirror", "db"],
  ["database", "db"],
  ["sqlite_file", "db"],
  ["keyExpires", "keyExpiresAt"],
])("the hint for the unknown profile field %s suggests %s", (written, meant) => {
  expect(unknownFieldHint(written)).toBe(`rename it to \`${meant}\``);
});

test("the hint for an unknown profile field suggests removing the field if it is `rate_limit` or resembles no known field", () => {
  expect(unknownFieldHint("color")).toBe("remove it");
  for (const written of ["rate_limit", "rateLimit"])
    expect(unknownFieldHint(written)).toContain("remove it, and use `--rate-limit`");
});

const misspelled = [
  ["BRANDAPI_APIKEY", "BRANDAPI_KEY"],
  ["BRANDAPI_TOKEN", "BRANDAPI_KEY"],
  ["BRANDAPI_SECRET", "BRANDAPI_KEY"],
  ["BRANDAPI_URL", "BRANDAPI_BASE_URL"],
  ["BRANDAPI_HOST", "BRANDAPI_BASE_URL"],
  ["BRANDAPI_ENDPOINT", "BRANDAPI_BASE_URL"],
  ["BRANDAPI_SERVER", "BRANDAPI_BASE_URL"],
  ["BRANDAPI_DBFILE", "BRANDAPI_DB"],
  ["BRANDAPI_MY_DB", "BRANDAPI_DB"],
  ["BRANDAPI_DATABASE", "BRANDAPI_DB"],
  ["BRANDAPI_MIRROR", "BRANDAPI_DB"],
  ["BRANDAPI_SQLITE", "BRANDAPI_DB"],
  ["BRANDAPI_LIMIT", "BRANDAPI_RATE_LIMIT"],
  ["BRANDAPI_PINGS", "BRANDAPI_PING"],
] as const;

test.each(misspelled)("the variable %s is treated as a misspelling of %s", (written, meant) => {
  expect(findMisspelledVariables({}, { [written]: "x" })).toEqual([{ written, meant }]);
});

test("a misspelled variable is ignored if it is empty, or if the correct variable or the matching flag is set", () => {
  const find = (flags: GlobalFlags, env: Env) =>
    findMisspelledVariables(flags, env).map(({ meant }) => meant);
  expect(find({}, { BRANDAPI_TOKEN: "", OTHER_BRANDAPI_TOKEN: "x" })).toEqual([]);
  expect(find({}, { BRANDAPI_TOKEN: "x", BRANDAPI_KEY: "y" })).toEqual([]);
  const env = Object.fromEntries(misspelled.map(([written]) => [written, "x"]));
  expect(find({ profile: "acme" }, env)).toEqual([]);
  const flags = { baseUrl: url("a"), db: "a.sqlite", keyFile: "key", rateLimit: 1 };
  expect(find(flags, env)).toEqual(["BRANDAPI_PING"]);
});

test.each(["'brk_a'", '"brk_a"', "'brk_a", "brk_a'"])(
  "the key %s is rejected, and the error mentions the quotes",
  async (key) => {
    const error = failure({}, world({ env: { BRANDAPI_KEY: key } }));
    expect([error.exitCode, error.message]).toEqual([3, expect.stringMatching(/BRANDAPI_KEY.*quotes/)]);
  },
);

test("the error for a missing base URL names a misspelled field in the profile", async () => {
  const config = JSON.stringify({ profiles: { default: { base_ur: url("a"), key: "brk_a" } } });
  const deps = world({ config });
  expect(() => requireCredentials(readSettings({}, deps), deps)).toThrow(
    expect.objectContaining({
      message: "No base URL for the profile `default`. The config file has an unknown field `base_ur`.",
      hint: expect.stringContaining("rename `base_ur` to `baseUrl`"),
    }),
  );
  const complete = world({
    config: JSON.stringify({ profiles: { default: { apiKey: "x", key: "brk_a" } } }),
  });
  const settings = readSettings({}, complete);
  expect(() => requireCredentials(settings, complete)).toThrow(/^No base URL for the profile `default`\.$/);
});

test.each(["0", "-1", "1.5", "many", "60/min", "10000000"])(
  "the rate limit `%s` is rejected with exit code 2 in --rate-limit, and with code 3 in BRANDAPI_RATE_LIMIT",
  async (limit) => {
    expect(failure({}, world({ env: { BRANDAPI_RATE_LIMIT: limit } })).exitCode).toBe(3);
    expect(() => parseRateLimit(limit, "flag")).toThrow(expect.objectContaining({ exitCode: 2 }));
  },
);

test("with the rate limit `none`, the number of requests per minute is not limited", async () => {
  expect(readSettings({}, world({ env: { BRANDAPI_RATE_LIMIT: "none" } })).rateLimit).toBeNull();
  expect(readSettings({ rateLimit: "none" }, world()).rateLimit).toBeNull();
  expect(parseRateLimit("9999999", "flag")).toBe(9_999_999);
});

test("the error for a missing key or base URL names the command that sets it", async () => {
  const deps = world();
  const both = readSettings({}, deps);
  expect(() => requireCredentials(both, deps)).toThrow("No key and no base URL for the profile `default`.");
  expect(() => requireCredentials({ ...both, key: "brk_a" }, deps)).toThrow("No base URL for");
  expect(() => requireCredentials({ ...both, baseUrl: url("a") }, deps)).toThrow("No key for");
  const acme = { ...both, profile: "acme" };
  expect(() => requireCredentials(acme, deps)).toThrow(
    expect.objectContaining({
      hint: "run `brandapi login`; if you have no key, try `brandapi demo`, or `brandapi sandbox`, which prints a key",
    }),
  );
  expect(() => requireCredentials(both, deps)).toThrow(
    expect.objectContaining({
      hint: expect.stringContaining("run `brandapi login`, or set BRANDAPI_KEY and BRANDAPI_BASE_URL;"),
    }),
  );
});

test.each([
  [
    "states that BRANDAPI_KEY is ignored",
    { BRANDAPI_KEY: "brk_env" },
    {},
    "With `--profile`, BRANDAPI_KEY is ignored.",
    "omit `--profile` to use",
  ],
  [
    "states that BRANDAPI_KEY and BRANDAPI_BASE_URL are ignored",
    { BRANDAPI_KEY: "brk_env", BRANDAPI_BASE_URL: url("a") },
    {},
    "With `--profile`, BRANDAPI_BASE_URL and BRANDAPI_KEY are ignored.",
    "to use BRANDAPI_BASE_URL and BRANDAPI_KEY",
  ],
  [
    "states that BRANDAPI_CONFIG_DIR contains no profiles",
    { BRANDAPI_CONFIG_DIR: "/nowhere" },
    {},
    "There are no profiles in BRANDAPI_CONFIG_DIR: /nowhere/config.json.",
    "check BRANDAPI_CONFIG_DIR",
  ],
])("the error for an unknown profile %s", async (_, env, profiles, text, hint) => {
  const deps = world({ env, config: JSON.stringify({ profiles }) });
  const settings = readSettings({ profile: "other" }, deps);
  expect(() => requireCredentials(settings, deps)).toThrow(
    expect.objectContaining({
      message: `No key and no base URL for the profile \`other\`. ${text}`,
      hint: expect.stringContaining(hint),
    }),
  );
});

test("if other profiles are stored, a profile that is not stored is reported as unknown unless it is named `default`", async () => {
  const config = JSON.stringify({ profiles: { acme: { baseUrl: url("a") } } });
  const env = { BRANDAPI_CONFIG_DIR: "~/.config/brandapi" };
  const messageFor = (profile: string) => {
    const deps = world({ config, env: profile === "default" ? {} : { ...env, BRANDAPI_PROFILE: profile } });
    try {
      requireCredentials(readSettings({}, deps), deps);
    } catch (error) {
      return asBrandapiError(error).message;
    }
    return undefined;
  };
  expect(messageFor("other")).toBe("Unknown profile: `other`.");
  expect(messageFor("default")).toBe("No key and no base URL for the profile `default`.");
  expect(messageFor("acme")).toBe("No key for the profile `acme` at https://a.example.");
  const withKey = world({ config, env: { BRANDAPI_PROFILE: "other", BRANDAPI_KEY: "brk_a" } });
  expect(() => requireCredentials(readSettings({}, withKey), withKey)).toThrow(
    "No base URL for the profile `other`. There is no profile with this name.",
  );
});
