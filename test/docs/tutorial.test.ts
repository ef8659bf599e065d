import { spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { afterFile, makeHome } from "../support/home.js";
import { brandapiCalls, typedLines } from "./words.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "src/resources/README.md"), "utf8");
const [, tutorial = ""] = page.split("## Add a resource in ten minutes");
const blocks = [...tutorial.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text = ""]) => ({
  language,
  text,
}));
const [resource = "", endpoint = "", shape = "", parameters = ""] = blocks
  .filter(({ language }) => language === "ts")
  .map(({ text }) => text);
const session = blocks.find(({ language }) => language === "text")?.text ?? "";

/** Follows the steps of the tutorial in a copy of the source code. Returns the folder with the copy. */
function followTutorial(): string {
  const folder = makeHome();
  for (const name of ["src", "test", "bin", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

  const edit = (file: string, before: string | RegExp, after: string) => {
    const text = readFileSync(join(folder, file), "utf8");
    expect(text).toMatch(before);
    writeFileSync(join(folder, file), text.replace(before, after));
  };
  writeFileSync(join(folder, "src/resources/payouts.ts"), resource);
  edit("src/resources/registry.ts", /^/, 'import { payouts } from "./payouts.js";\n');
  edit("src/resources/registry.ts", /(const resources\b[^\]]*\][^\]]*)\]/, "$1  payouts,\n]");
  writeFileSync(join(folder, "src/sandbox/payouts-endpoint.ts"), endpoint);
  edit("src/sandbox/endpoints.ts", /^/, 'import { payoutsEndpoint } from "./payouts-endpoint.js";\n');
  edit("src/sandbox/endpoints.ts", /(const endpoints\b[^\]]*\][^\]]*)\]/, "$1  payoutsEndpoint,\n]");
  edit("test/sandbox/shapes.ts", /const shapes\b[^{]*\{/, `$&\n${shape}`);
  edit("test/sandbox/parameters.test.ts", /const documented\b[^{]*\{/, `$&\n${parameters}`);
  return folder;
}

test("the tutorial for adding a resource contains code that compiles and commands that print the documented output", async () => {
  const folder = followTutorial();
  const config = { extends: "./tsconfig.json", include: ["src", "test/sandbox"] };
  writeFileSync(join(folder, "tsconfig.tutorial.json"), JSON.stringify(config));
  const node = (args: readonly string[], env: Record<string, string> = {}) => {
    const options = { cwd: folder, env: { HOME: folder, ...env }, encoding: "utf8" } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, args, options);
    expect(status, stdout + stderr).toBe(0);
    return stdout + stderr;
  };
  node(["node_modules/typescript/bin/tsc", "--project", "tsconfig.tutorial.json"]);
  node(["bin/build.js"]);

  const sandbox = spawn(process.execPath, ["bin/brandapi.js", "sandbox", "--port", "0", "--json"], {
    cwd: folder,
    env: { HOME: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterFile(() => sandbox.kill());
  const [line] = await sandbox.stdout.setEncoding("utf8").take(1).toArray();
  const { baseUrl, key } = JSON.parse(String(line)) as { baseUrl: string; key: string };
  const env = { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key };
  const printed = typedLines(session).flatMap((command) =>
    brandapiCalls(command).map((args) => `$ ${command}\n${node(["bin/brandapi.js", ...args], env)}`),
  );
  const withoutTime = (text: string) => text.replaceAll(/ in \d+s/g, " in 0s");
  expect(withoutTime(printed.join(""))).toBe(withoutTime(session));
});
