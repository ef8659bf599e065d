import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { makeBrand, testBaseUrl } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { binPath, spawnBrandapi } from "../support/process.js";
import { brandapi, testDeps } from "../support/program.js";

/** A folder name with characters that need escaping in shells and crontabs. */
const awkwardFolder = join(mkdtempSync(join(tmpdir(), "brandapi-cron-")), `it's 100% <"mine"> & $HOME`);
mkdirSync(awkwardFolder);
afterAll(() => rmSync(join(awkwardFolder, ".."), { recursive: true }));

/**
 * Returns the commands that cron passes to the shell for a crontab. Cron unescapes `\\%`, and ends a command at an
 * unescaped `%`.
 */
function commandsOf(crontab: string): string[] {
  const lines = crontab.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const command = /^(?:\S+\s+){5}(.*)$/.exec(line)?.[1] ?? "";
    expect(command.replaceAll("\\%", ""), "a bare per cent sign").not.toContain("%");
    return command.replaceAll("\\%", "%");
  });
}

/** Runs a command with the minimal environment of a cron job. */
function runBare(command: string, home: string) {
  const env = { HOME: home, LOGNAME: "ada", PATH: "/usr/bin:/bin", SHELL: "/bin/sh" };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
    env,
    cwd: "/",
    encoding: "utf8",
  });
  return { status, out: stdout, err: stderr };
}

/** Starts the sandbox in a separate process, so that it can respond while this process is blocked. */
async function startSandbox() {
  const running = spawnBrandapi(["sandbox", "--json", "--orders", "50", "--rate-limit", "none"]);
  onTestFinished(() => void running.child.kill());
  const [line] = await running.until(/^{.*}$/m);
  return JSON.parse(line ?? "") as { baseUrl: string; key: string };
}

test("the crontab lines that cron prints work in a minimal environment, whatever characters the paths contain", async () => {
  const { baseUrl, key } = await startSandbox();
  const nobody = makeHome();
  const env = { BRANDAPI_CONFIG_DIR: join(awkwardFolder, "settings"), BRANDAPI_RATE_LIMIT: "none" };
  const login = ["login", "--base-url", baseUrl, "--key-stdin"];
  expect((await brandapi(login, { home: awkwardFolder, env, stdin: key })).code).toBe(0);
  const { code, out, err } = await brandapi("cron", { home: awkwardFolder, env });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [sync = "", check = ""] = commandsOf(out);

  const early = runBare(check, nobody);
  expect(early).toMatchObject({ status: 10, out: "" });
  expect(early.err).toContain("This mirror has never been synced");
  expect(runBare(sync, nobody)).toEqual({ status: 0, out: "", err: "" });
  expect(runBare(check, nobody)).toEqual({ status: 0, out: "", err: "" });
  const log = readFileSync(join(awkwardFolder, ".local/state/brandapi/default.log"), "utf8");
  expect(log).toMatch(/^\w{3} .*UTC.*\nroster: [\s\S]*orders: 50 read/);
  expect(readdirSync(join(awkwardFolder, ".local/share/brandapi"))).toContain("default.sqlite");
  expect(readdirSync(nobody)).toEqual([]);
  expect(out).not.toContain(key);
});

test("cron prints two crontab lines with comments and absolute paths, and writes no files", async () => {
  const home = makeHome();
  const { out, code } = await brandapi("cron", { home });
  expect(code).toBe(0);
  expect(readdirSync(home)).toEqual([]);
  const lines = out.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toHaveLength(2);
  const log = join(home, ".local/state/brandapi");
  expect(lines[0]).toMatch(/^\d+ 4 \* \* \* {2}mkdir -pm 700 /);
  expect(lines[0]).toContain(
    `HOME=${home} ${process.execPath} ${binPath} sync; } >> ${log}/default.log 2>&1`,
  );
  expect(lines[1]).toMatch(/^\d+ 8 \* \* \* {2}HOME=\/.* status --max-age 26h --quiet$/);
});

test("cron copies options and environment variables into the crontab lines, with absolute paths, but never copies the key", async () => {
  const home = makeHome();
  writeFileSync(join(home, "key"), "brk_from_file", { mode: 0o600 });
  const env = {
    BRANDAPI_KEY: "brk_from_environment",
    BRANDAPI_PROFILE: "acme",
    BRANDAPI_DB: "acme@eu.sqlite",
    BRANDAPI_CONFIG_DIR: "~/settings",
    BRANDAPI_RATE_LIMIT: "30",
    BRANDAPI_PING: "",
    XDG_CONFIG_HOME: "/var/config",
    XDG_DATA_HOME: "/var/data",
    XDG_STATE_HOME: "/var/state",
    XDG_CACHE_HOME: "/var/cache",
    NODE_EXTRA_CA_CERTS: "ca.pem",
    NO_PROXY: "localhost",
    https_proxy: "http://proxy:8080",
    HTTPS_PROXY: "http://ada:secret@proxy:8080",
  };
  const base = "https://platform.example/api/brand/v1";
  const { out, err } = await brandapi(`cron --base-url ${base} --key-file key`, { home, env });
  const flags = `--base-url ${base} --key-file ${home}/key`;
  const brand = `BRANDAPI_PROFILE=acme BRANDAPI_DB=${home}/acme@eu.sqlite BRANDAPI_CONFIG_DIR=${home}/settings`;
  const folders = "XDG_CONFIG_HOME=/var/config XDG_DATA_HOME=/var/data XDG_STATE_HOME=/var/state";
  const network = `NODE_EXTRA_CA_CERTS=${home}/ca.pem NO_PROXY=localhost https_proxy=http://proxy:8080`;
  const set = `HOME=${home} ${brand} BRANDAPI_RATE_LIMIT=30 ${folders} ${network}`;
  const program = `${process.execPath} ${binPath}`;
  expect(commandsOf(out)).toEqual([
    `mkdir -pm 700 /var/state/brandapi && { date -u; ${set} ${program} sync ${flags}; } >> /var/state/brandapi/acme.log 2>&1`,
    `${set} ${program} status ${flags} --max-age 26h --quiet`,
  ]);
  expect(out).toContain(`(crontab -l 2>/dev/null; ${brand} BRANDAPI_RATE_LIMIT=30 brandapi cron `);
  expect(out).not.toMatch(/brk_|secret/);
  expect(err).toMatch(/^warning: HTTPS_PROXY contains a password, .*\n$/);
});

test.each([
  ["--profile acme", "--profile acme"],
  ["--db acme.sqlite --rate-limit none", "--db HOME/acme.sqlite --rate-limit none"],
  ["--max-wait 5m --rate-limit 30", "--rate-limit 30 --max-wait 300s"],
  ["--max-wait 0s", "--max-wait 0s"],
  ["--max-wait 5m --all-profiles", "--all-profiles --max-wait 300s"],
])("cron copies the options `%s` into both crontab lines", async (flags, copied) => {
  const home = makeHome();
  const [sync, check] = commandsOf((await brandapi(`cron ${flags}`, { home })).out);
  expect(sync).toContain(`${binPath} sync ${copied.replace("HOME", home)}; }`);
  expect(check).toContain(`${binPath} status ${copied.replace("HOME", home)} --max-age 26h --quiet`);
});

test("cron chooses a minute from 1 to 59 that depends on the machine and the profile", async () => {
  const minuteOn = async (name: string, profile = "acme") => {
    const { machine } = testDeps();
    const { out } = await brandapi(`cron --profile ${profile}`, { machine: { ...machine, name } });
    return Number(/^(\d+) 4 /m.exec(out)?.[1]);
  };
  const machines = Array.from({ length: 59 }, (_, n) => String.fromCharCode(60 + n));
  const minutes = await Promise.all(machines.map((machine) => minuteOn(machine)));
  expect(minutes.sort((a, b) => a - b)).toEqual(Array.from({ length: 59 }, (_, n) => n + 1));
  expect(await minuteOn("mill", "basalt")).not.toBe(await minuteOn("mill", "acme"));
});

test("cron includes the named resources in both crontab lines, and in the command that installs them", async () => {
  const { code, out } = await brandapi("cron orders roster", { env: { BRANDAPI_PROFILE: "acme" } });
  expect(code).toBe(0);
  const [sync, check] = commandsOf(out);
  expect(sync).toContain(`${binPath} sync orders roster;`);
  expect(check).toMatch(/ status orders roster --max-age 26h --quiet$/);
  expect(out).toContain("brandapi cron orders roster) | crontab -");
  expect((await brandapi("cron oders")).err).toContain("did you mean `orders`?");
});

test("cron warns if the key is set only in the environment", async () => {
  const env = {
    BRANDAPI_KEY: "brk_environment",
    BRANDAPI_PROFILE: "acme",
    BRANDAPI_BASE_URL: "https://platform.example/api/brand/v1",
  };
  const { code, out, err } = await brandapi("cron", { env });
  expect(code).toBe(0);
  expect(err).toMatch(/^warning: The profile `acme` has no key, .* Run `brandapi login --profile acme`\.\n$/);
  expect(commandsOf(out)).toHaveLength(2);
  expect(out + err).not.toContain("brk_");
});

test("cron warns if there is no base URL", async () => {
  const home = makeHome();
  writeFileSync(join(home, "key"), "brk_from_file", { mode: 0o600 });
  const { code, err } = await brandapi("cron --key-file key", { home });
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(/^warning: The profile `default` has no base URL, /),
  ]);
});

test("cron --all-profiles prints lines for all brands, and rejects options for a single brand", async () => {
  const brand = makeBrand();
  const noVariables = { BRANDAPI_BASE_URL: "", BRANDAPI_KEY: "", BRANDAPI_DB: "" };
  const run = (command: string) => brand.run(command, { stdin: brand.key, env: noVariables });
  const login = await run(`login --profile acme --base-url ${testBaseUrl} --key-stdin`);
  expect(login.code, login.err).toBe(0);
  const { out, err } = await run("cron --all-profiles");
  expect(err).toBe("");
  expect(out).toContain("/brandapi/all-profiles.log 2>&1\n");
  expect(commandsOf(out).map((line) => / (sync|status) --all-profiles/.test(line))).toEqual([true, true]);
  expect((await run("cron --all-profiles --db x.sqlite")).code).toBe(2);
  expect((await run("cron --systemd --launchd")).code).toBe(2);
});

test("cron --json prints the crontab lines as JSON", async () => {
  const text = (await brandapi("cron orders")).out;
  const { out, code } = await brandapi("cron orders --json");
  expect(code).toBe(0);
  const { profile, lines, log } = JSON.parse(out) as { profile: string; lines: string[]; log: string };
  expect(profile).toBe("default");
  expect(lines).toHaveLength(2);
  expect(
    text
      .trimEnd()
      .split("\n")
      .slice(-2)
      .map((line) => line.slice(0, 20)),
  ).toEqual(lines.map((line) => line.slice(0, 20)));
  expect(lines[0]).toContain(log);
});

test("cron prints an install command instead of crontab lines if brandapi runs from npm's cache", async () => {
  const script = "/home/ada/.npm/_npx/1a2b3c/node_modules/.bin/brandapi";
  const { code, out, err } = await brandapi("cron", { machine: { ...testDeps().machine, script } });
  expect({ code, out }).toEqual({ code: 3, out: "" });
  expect(err).toContain("hint: install it with `npm install -g PACKAGE`, then run `brandapi cron`");
});
