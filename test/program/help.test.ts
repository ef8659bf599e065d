import { expect, test } from "vitest";
import { globalFlags } from "../../src/commands/globals.js";
import { commandGroups } from "../../src/commands/groups.js";
import { commands } from "../../src/commands/index.js";
import { durationForms, timeForms } from "../../src/lib/times.js";
import { brandapi } from "../support/program.js";

test("every command has a place in the program's help", () => {
  const placed = Object.values(commandGroups).flat();
  for (const { name } of commands) expect(placed, `add \`${name}\` to commands/groups.ts`).toContain(name);
});

test("the program's help lists the commands first, grouped, then its own flags", async () => {
  const { out, code, err } = await brandapi("--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const headings = Object.keys(commandGroups).map((group) => out.indexOf(`${group}:`));
  expect(headings).toEqual([...headings].sort((a, b) => a - b));
  expect(out.indexOf("Set up:")).toBeLessThan(out.indexOf("Options:"));
  for (const { name, summary } of commands)
    expect(out).toMatch(new RegExp(`^  ${name}\\b.*  ${summary.split(" ")[0]}`, "m"));
});

test.each(commands)(
  "the help of $name fits 80 columns and shows two or three examples that name it",
  async (spec) => {
    const help = await brandapi(`${spec.name} --help`, { columns: 80, tty: true });
    expect(help.code).toBe(0);
    expect((await brandapi(`help ${spec.name}`, { columns: 80, tty: true })).out).toBe(help.out);
    for (const line of help.out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(spec.examples.length).toBeGreaterThanOrEqual(2);
    expect(spec.examples.length).toBeLessThanOrEqual(3);
    for (const { command } of spec.examples) {
      expect(help.out).toContain(`  $ ${command}\n`);
      expect(command).toContain(`brandapi ${spec.name}`);
    }
    for (const flag of spec.flags) expect(help.out).toContain(flag.flags);
  },
);

test.each(commands)("the help of $name follows the width there is, terminal or COLUMNS", async ({ name }) => {
  const help = await brandapi(`${name} --help`, { columns: 60, tty: true });
  expect((await brandapi(`${name} --help`, { env: { COLUMNS: "60" } })).out).toBe(help.out);
  // A command stays whole, to be copied.
  const lines = help.out.split("\n").filter((line) => !/^ {2}\$ |^Usage|^Where the/.test(line));
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(60);
  const wide = (await brandapi(`${name} --help`, { columns: 300, tty: true })).out.split("\n");
  const prose = wide.slice(
    2,
    wide.findIndex((line) => /^(Arguments|Options):/.test(line)),
  );
  for (const [index, line] of prose.entries()) {
    const [next = ""] = (prose[index + 1] ?? "").split(" ");
    if (line !== "" && next !== "") expect(`${line} ${next}`.length, line).toBeGreaterThan(100);
  }
});

test("the flags of every command stand in a help of their own, and each other help says where", async () => {
  const { code, out } = await brandapi("help flags", { columns: 80, tty: true });
  expect(code).toBe(0);
  for (const { flags, about } of globalFlags) {
    expect(out).toContain(`  ${flags} `);
    expect(out.replace(/\s+/g, " ")).toContain(about);
  }
  for (const form of [timeForms, durationForms]) expect(out.replace(/\s+/g, " ")).toContain(form);
  for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  for (const command of ["--help", "sync --help", "help whoami"]) {
    const help = (await brandapi(command)).out;
    expect(help).toContain("`brandapi help flags`");
    expect(help).not.toMatch(/^ {2}--(?:profile|key-file|no-color)/m);
  }
});

test("no command at all is the program's help, and so is help about help", async () => {
  for (const command of ["help", "help help", "help -h", "help --help"])
    expect(await brandapi(command)).toMatchObject({ code: 0, out: (await brandapi("")).out });
  expect((await brandapi("")).out).toBe((await brandapi("--help")).out);
});

test.each([
  ["whoam", "Unknown command: `whoam`.", "did you mean `brandapi whoami`?"],
  ["WHOAMI", "Unknown command: `WHOAMI`.", "did you mean `brandapi whoami`?"],
  ["help logni", "Unknown command: `logni`.", "did you mean `brandapi login`?"],
  ["xyzzy", "Unknown command: `xyzzy`.", "see `brandapi --help`"],
  ["whoami --profil a", "Unknown option `--profil`.", "did you mean `--profile`?"],
  ["--jsn whoami", "Unknown option `--jsn`.", "did you mean `--json`?"],
  ["whoami --xyzzy", "Unknown option `--xyzzy`.", "see `brandapi whoami --help`"],
  ["whoami --profile", "Option `--profile <name>` argument missing.", "see `brandapi whoami --help`"],
  [
    "whoami extra",
    "Too many arguments for `whoami`. Expected 0 arguments but got 1.",
    "see `brandapi whoami --help`",
  ],
  [
    "whoami --rate-limit 0",
    "The rate limit is not a number of requests a minute: `0`.",
    "use a whole number such as 60, or `none`",
  ],
  [
    "sync orders,roster",
    "Not one resource: `orders,roster`.",
    "put blanks between the names: `orders roster`",
  ],
  ["sync content --media-type image,vidoe", "Not a media type: `vidoe`.", "did you mean `video`?"],
  ["sync content --source both", "Not a source: `both`.", "use one of deliverable, upload"],
  ["download content --source uplaod", "Not a source: `uplaod`.", "did you mean `upload`?"],
  [
    "sync orders --source upload",
    "`orders` has nothing that it would choose: it takes no `--source`.",
    "leave it out, or sync `orders` by itself",
  ],
  [
    "sync content roster --host h1",
    "`roster` has nothing that it would choose: it takes no `--host`.",
    "leave it out, or sync `roster` by itself",
  ],
  [
    "sync orders --per-host",
    "`orders` has nothing that it would choose: it takes no `--per-host`.",
    "leave it out, or sync `orders` by itself",
  ],
  [
    "sync orders roster --until yesterday",
    "`roster` is always read whole: it takes no `--until`.",
    "leave it out, or sync `roster` by itself",
  ],
  ["download photos", "Nothing to download is called `photos`.", "use `content`"],
  ["sandbox --port 99999", "Not a port: `99999`.", "ports end at 65535; 0 is any free one"],
  ["sync --db=", "`--db` names no file.", "name one, or leave `--db` out"],
  ["query --timeout 0s", "A query takes some time: `--timeout` is 0.", "use for example `30s` or `5m`"],
  ["--quiet", "No command was given.", "see `brandapi --help`"],
])("`brandapi %s` is a usage error that says what to do", async (command, message, hint) => {
  const { code, out, err } = await brandapi(command);
  expect(err).toBe(`brandapi: ${message}\n  hint: ${hint}\n`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test("flags work before the command's name and after it; after it wins", async () => {
  const before = await brandapi("--profile acme whoami");
  expect(before.err).toContain("for the profile `acme`");
  expect((await brandapi("whoami --profile acme")).err).toBe(before.err);
  expect((await brandapi("--profile other whoami --profile acme")).err).toBe(before.err);
  expect(JSON.parse((await brandapi("--json whoami")).out).error.code).toBe("configuration");
});

test.each(commands)(
  "the help of $name names the forms of a time or a duration if it takes one",
  async ({ name, flags }) => {
    const { out } = await brandapi(`${name} --help`);
    const takesTime = flags.some((flag) => /--(since|until|as-of)\b/.test(flag.flags));
    expect(out.replace(/\s+/g, " ").includes(timeForms)).toBe(takesTime);
    const takesDuration = flags.some((flag) => /--(max-wait|max-age|window|timeout)\b/.test(flag.flags));
    expect(out.replace(/\s+/g, " ").includes(durationForms)).toBe(takesDuration);
  },
);
