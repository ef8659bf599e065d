import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import type { CommandSpec } from "../../src/commands/command.js";
import { globalFlags } from "../../src/commands/globals.js";
import { commands } from "../../src/commands/index.js";
import { bashCompletion } from "../../src/commands/shells/bash.js";
import { fishCompletion } from "../../src/commands/shells/fish.js";
import { typeable } from "../../src/commands/shells/typeable.js";
import { zshCompletion } from "../../src/commands/shells/zsh.js";
import { knownTableNames } from "../../src/query/names.js";
import { resources } from "../../src/resources/index.js";
import { makeHome } from "../support/home.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { hasShell, loadInto, type Press } from "../support/shells.js";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
const shells = ["bash", "zsh", "fish"] as const;

/** Two brands are set up, and the first one's mirror has a table whose columns no version can know. */
async function makeBrands(): Promise<string> {
  const home = makeHome();
  const folder = join(home, ".config/brandapi");
  mkdirSync(folder, { recursive: true });
  const mirror = await makeMirror(home);
  writeRead(mirror, "gifts", [{ id: "g1", gift_name: "Cap" }]);
  mirror.db.exec('CREATE TABLE mine (plain, "two words", "$(touch pwned)", "a;b")');
  mirror.db.close();
  const profiles = { acme: { key: "brk_secret", db: mirror.path }, basalt: { key: "brk_secret" } };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  return home;
}

/** A command that this version does not have. */
const invented: CommandSpec = {
  name: "invented",
  summary: "It's new: [made] up",
  arguments: [{ syntax: "<table>", about: "" }],
  flags: [
    { flags: "-k, --kind <kind>", about: "what's [new]: a kind", choices: ["red", "green"] },
    { flags: "--into <dir>", about: "a folder" },
    { flags: "--db <colour>", about: "not what it is elsewhere", choices: ["redder", "greener"] },
  ],
  examples: [],
  run: async () => 0,
};

describe.each(shells)("Tab in %s", (shell) => {
  const isThere = hasShell(shell);
  if (!isThere) test.skip(`is not tried: there is no ${shell} on this machine`);
  let home: string;
  let press: Press;
  beforeAll(async () => {
    if (!isThere) return;
    home = await makeBrands();
    const script = join(home, `completion.${shell}`);
    writeFileSync(script, scripts[shell](typeable([...commands, invented])));
    press = loadInto(shell, script, home);
  });

  test.skipIf(!isThere)("completes commands, values, resources, tables, columns, profiles and files", () => {
    mkdirSync(join(home, "folder"));
    writeFileSync(join(home, "file.sqlite"), "");
    const cases: [line: string, offered: string[]][] = [
      ["brandapi ", [...commands.map(({ name }) => name), "help", "invented"]],
      ["brandapi sy", ["sync"]],
      ["brandapi --profile acme --json sy", ["sync"]],
      ["brandapi sync ros", ["roster"]],
      ["brandapi sync orders ros", ["roster"]],
      ["brandapi verify ", resources.map(({ name }) => name)],
      ["brandapi export orders_n", ["orders_net"]],
      ["brandapi export --csv ", [...knownTableNames()]],
      ["brandapi sync --details ", ["all", "changed", "none"]],
      ["brandapi download content --media-type image,vi", ["image,video"]],
      ["brandapi --profile ", ["acme", "basalt"]],
      ["brandapi sync --profile bas", ["basalt"]],
      ["brandapi export roster --columns host_user", ["host_username"]],
      ["brandapi export roster --columns host_id,host_user", ["host_id,host_username"]],
      ["brandapi export gifts --profile acme --columns gift_n", ["gift_name"]],
      ["brandapi export --profile=acme gifts --columns gift_n", ["gift_name"]],
      ["brandapi help exp", ["export"]],
      ["brandapi help fl", ["flags"]],
      ["brandapi completion z", ["zsh"]],
      ["brandapi invented order_l", ["order_line_items"]],
      ["brandapi invented -k r", ["red"]],
      ["brandapi invented roster --kind gr", ["green"]],
      ["brandapi invented --db red", ["redder"]],
      ["brandapi export orders order_l", ["order_line_items"]],
      ["brandapi tables order_l", ["order_line_items"]],
      ["brandapi export orders --since ", []],
    ];
    const offered = press(cases.map(([line]) => line));
    for (const [at, [line, words]] of cases.entries()) expect(offered[at], line).toEqual(words.toSorted());
    const [folder = [], file = []] = press(["brandapi demo -o f", "brandapi sync --db fi"]);
    expect(folder.map((path) => path.replace(/\/$/, ""))).toEqual(["folder"]);
    expect(file).toEqual(["file.sqlite"]);
  });

  test.skipIf(!isThere)("completes a flag with `=` as without", () => {
    const whole = (flag: string, value: string) => (shell === "bash" ? value : `${flag}=${value}`);
    const [details, profile, columns] = press([
      "brandapi sync --details=ch",
      "brandapi status --profile=bas",
      "brandapi export --profile=acme gifts --columns=id,gift_n",
    ]);
    expect(details).toEqual([whole("--details", "changed")]);
    expect(profile).toEqual([whole("--profile", "basalt")]);
    expect(columns).toEqual([whole("--columns", "id,gift_name")]);
  });

  test.skipIf(!isThere)("completes every flag of every command, and of one that is new", () => {
    const specs = [...commands, invented];
    const offered = press(specs.map(({ name }) => `brandapi ${name} --`));
    for (const [at, { name, flags }] of specs.entries()) {
      const long = [...flags, ...globalFlags].map(
        ({ flags: spelled }) => /--[\w-]+/.exec(spelled)?.[0] ?? "",
      );
      const found = offered[at]?.map((word) => word.replace(/=$/, "")) ?? [];
      expect(found, name).toEqual([...new Set([...long, "--help"])].sort());
    }
  });

  test.skipIf(!isThere)("offers no column, and runs none, whose name is more than a plain word", () => {
    const [columns] = press(["brandapi export mine --profile acme --columns "]);
    expect(columns).toEqual(["plain"]);
    const [files] = press(["brandapi sync --db pw"]);
    expect(files).not.toContain("pwned");
  });
});

describe("completion", () => {
  test.each(shells)("prints the script of %s, which the shell takes without a word", async (shell) => {
    const { code, out, err } = await brandapi(`completion ${shell}`);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(scripts[shell](typeable(commands)));
  });

  test("names the nearest shell", async () => {
    const { code, err } = await brandapi("completion fisch");
    expect(code).toBe(2);
    expect(err).toContain("did you mean `fish`?");
  });

  test("no flag takes a value in one command and none in another: fish reads them without knowing the command", () => {
    const every = [...commands.flatMap(({ flags }) => flags), ...globalFlags];
    const takes = new Map<string, boolean>();
    for (const { flags } of every)
      for (const name of flags.match(/(?<![^\s,])--?[\w-]+/g) ?? []) {
        expect(takes.get(name) ?? flags.includes("<"), name).toBe(flags.includes("<"));
        takes.set(name, flags.includes("<"));
      }
  });
});

describe("what a completion script asks at Tab", () => {
  const noNetwork = () => Promise.reject(new Error("the network was asked"));
  const ask = async (words: string, home: string, env = {}) =>
    await brandapi(["__complete", ...words.split(" ")], { home, env, fetch: noNetwork });

  test("is answered with names that every shell takes as one plain word", async () => {
    const home = await makeBrands();
    const { code, out, err } = await ask("columns export gifts --profile acme --columns", home);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n")).toEqual(expect.arrayContaining(["id", "gift_name", "synced_at"]));
    expect((await ask("columns export mine --profile=acme", home)).out).toBe("plain\n");
    expect((await ask("profiles", home)).out).toBe("acme\nbasalt\n");
    expect((await ask("columns export order-line-items", home)).out).toMatch(/^order_id\nposition\n/);
  });

  test("is answered from what this version declares where the mirror is held, missing, or no mirror", async () => {
    const home = await makeBrands();
    const mirror = await makeMirror(makeHome());
    writeRead(mirror, "roster", [{ relationship_id: "r" }]);
    mirror.db.pragma("journal_mode = DELETE");
    const holder = new Sqlite(mirror.path);
    mirror.db.close();
    holder.exec("BEGIN EXCLUSIVE");
    const noMirror = join(home, "text.sqlite");
    writeFileSync(noMirror, "no mirror");
    for (const db of [mirror.path, noMirror, join(home, "none.sqlite"), home]) {
      const begun = performance.now();
      const { code, out, err } = await ask(`columns export roster --db ${db}`, home);
      // A reader of another kind waits ten seconds for whoever holds it.
      expect(performance.now() - begun).toBeLessThan(8_000);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("host_username\n");
    }
    holder.close();
  });

  test("is answered with nothing, and no word, where something is wrong", async () => {
    const home = await makeBrands();
    const config = join(home, ".config/brandapi/config.json");
    const nothing = { code: 0, out: "", err: "" };
    expect(await ask("columns export nothing", home)).toMatchObject(nothing);
    expect(await ask("", home)).toMatchObject(nothing);
    expect(await ask("columns export gifts --profile a/b", home)).toMatchObject({ code: 0, err: "" });
    chmodSync(config, 0o644);
    expect(await ask("profiles", home)).toMatchObject(nothing);
    chmodSync(config, 0o600);
    writeFileSync(config, "{");
    expect(await ask("profiles", home)).toMatchObject(nothing);
    expect(await ask("profiles", "")).toMatchObject(nothing);
  });
});
