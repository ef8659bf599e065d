import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { globalFlags } from "../../src/commands/globals.js";
import { commands } from "../../src/commands/index.js";
import { manPage } from "../../src/commands/man-page.js";
import { exitMeanings } from "../../src/errors.js";
import { sourceText } from "../docs/source.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packageJson = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  version: string;
  description: string;
  man: string[];
};
const path = `${root}/${packageJson.man[0]}`;
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const run = (command: string, args: readonly string[], input = "") =>
  spawnSync(command, args, {
    input,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8", MANWIDTH: "100" },
  });

describe("the man page", () => {
  test("is built from the registry of commands", () => {
    // npm takes nothing but a list.
    expect(packageJson.man).toEqual(["dist/brandapi.1"]);
    const built = readFileSync(path, "utf8");
    const date = /^\.TH BRANDAPI 1 (\d{4}-\d\d-\d\d) /.exec(built)?.[1] ?? "";
    expect(built).toBe(manPage(packageJson, date));
  });

  test("names every variable of the environment that the program reads", () => {
    const names = (text: string, pattern: RegExp) => [...new Set(text.match(pattern))].toSorted();
    const [, section = ""] = readFileSync(path, "utf8").split(".SH ENVIRONMENT\n");
    expect(names(section, /(?<=^\.B )BRANDAPI_[A-Z_]+$/gm)).toEqual(
      names(sourceText(), /\bBRANDAPI_[A-Z_]+\b/g),
    );
  });

  const isManThere = has("man") && run("man", ["--version"]).stdout.startsWith("man ");
  if (!isManThere) test.skip("is not shown: there is no `man` of man-db on this machine");
  test.skipIf(!isManThere)(
    "is shown by `man` without a warning, with every command, flag, example and exit code",
    () => {
      const { status, stdout, stderr } = run("man", ["--warnings", "-P", "cat", "-l", path]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      const words = stdout.replace(/\s+/g, " ");
      for (const { name, summary, flags, examples } of commands) {
        expect(stdout).toMatch(new RegExp(`^ {3}brandapi ${name}\\b`, "m"));
        expect(words).toContain(summary);
        for (const flag of flags) expect(words).toContain(` ${flag.flags} `);
        for (const { command } of examples) expect(words, name).toContain(` ${command} `);
      }
      for (const { flags } of globalFlags) expect(words).toContain(` ${flags} `);
      for (const [code, meaning] of Object.entries(exitMeanings))
        expect(words).toContain(` ${code} ${meaning}`);
      const broken = readFileSync(path, "utf8").replace(".SH NAME", ".SH NAME\n.nosuchmacro \\s[");
      expect(run("man", ["--warnings", "-P", "cat", "-l", "-"], broken).stderr).not.toBe("");
    },
  );

  test.skipIf(!isManThere)("shows what roff would take for its own as it was written", () => {
    const odd = [".dot first", "'quote first", "a back\\slash", 'a "quote"', "a ~tilde ^hat `tick` --dash"];
    const flags = odd.map((about, at) => ({ flags: `--flag-${at} <n>`, about }));
    const example = { command: `brandapi sync | jq '.[]' "\\d" ~/x`, about: "'." };
    const spec = {
      name: "sync",
      summary: "odd",
      arguments: [],
      flags,
      examples: [example],
      run: async () => 0 as const,
    };
    const page = manPage(packageJson, "2026-11-22", [spec]);
    const { stdout, stderr } = run("man", ["--warnings", "-P", "cat", "-l", "-"], page);
    expect(stderr).toBe("");
    for (const text of [...odd, example.command, example.about]) expect(stdout).toContain(text);
  });

  if (!has("mandoc")) test.skip("is not linted: there is no `mandoc` on this machine");
  test.skipIf(!has("mandoc"))("passes `mandoc -Tlint`", () => {
    const { stdout, stderr, status } = run("mandoc", ["-Tlint", "-Wwarning", path]);
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
    expect(run("mandoc", ["-Tlint", "-Wwarning"], ".TH A 1\n.nosuch\n").stdout).not.toBe("");
  });
});
