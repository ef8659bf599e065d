import { expect, test } from "vitest";
import { formatExamples } from "../../src/cli/help.js";
import { durationFormats, timeFormats } from "../../src/cli/time-flags.js";
import { Stopped } from "../../src/errors.js";
import { commands, examplesOf } from "../support/commands.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";

test("brandapi --help lists every command under its group's heading", async () => {
  const { out, code, err } = await brandapi("--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^Usage: brandapi <command> \[options\]\n\nKeeps /);
  const headings = ["Options:", ...new Set(commands.map((command) => command.helpGroup())), "Help:"];
  const positions = headings.map((heading) => out.indexOf(`${heading}\n`));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  for (const command of commands)
    expect(out).toMatch(new RegExp(`^  ${command.name()}\\b.*  ${command.summary().split(" ")[0]}`, "m"));
});

test("brandapi --help describes the global options, and each command's help refers to `brandapi --help`", async () => {
  const { out } = await brandapi("--help");
  const options = ["--profile", "--db", "--base-url", "--key-file", "--max-wait", "--json", "--quiet"];
  for (const option of options) expect(out).toContain(`  ${option}`);
  for (const command of ["sync --help", "help whoami"]) {
    const help = (await brandapi(command)).out;
    expect(help).toContain("`brandapi --help`");
    expect(help).not.toMatch(/^ {2}--(?:profile|key-file|no-color)/m);
  }
});

test("brandapi --help lists the Node versions on which SQLite is compiled during installation", async () => {
  const { out } = await brandapi("--help");
  expect(out.replace(/\s+/g, " ")).toContain("on Node 22 and later, nothing is compiled. On Node 20, ");
});

test("`brandapi` and `brandapi help` print the same output as --help", async () => {
  const { out } = await brandapi("--help");
  expect(await brandapi("help")).toMatchObject({ code: 0, out });
  expect(await brandapi("")).toMatchObject({ code: 0, out });
});

/**
 * Counts the lines of the resource list, except the first. The limit on the help's length ignores these lines, because
 * the list grows with the API.
 */
function extraResourceLines(lines: readonly string[]): number {
  const first = lines.findIndex((line) => /^ {2}resource {2,}/.test(line));
  if (first === -1) return 0;
  return lines.slice(first + 1).findIndex((line) => !/^ {10}/.test(line));
}

test.each(commands.map((command) => [command.name(), command] as const))(
  "the help for %s fits in 50 lines of 80 columns, not counting the list of resources, and has two to four examples",
  async (name, command) => {
    const help = await brandapi(`${name} --help`, { columns: 80, tty: true });
    expect(help.code).toBe(0);
    expect((await brandapi(`help ${name}`, { columns: 80, tty: true })).out).toBe(help.out);
    const lines = help.out.trimEnd().split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length - extraResourceLines(lines)).toBeLessThanOrEqual(50);
    const examples = examplesOf(command);
    expect([2, 3, 4]).toContain(examples.length);
    for (const example of examples) expect(example).toContain(`brandapi ${name}`);
    for (const { flags } of command.options) expect(help.out).toContain(flags);
  },
);

test.each(commands.map((command) => command.name()))(
  "the help for %s breaks a word only if the word does not fit on a 40-column terminal",
  async (name) => {
    const { out } = await brandapi(`help ${name}`, { columns: 40, tty: true });
    const tooLong = out.split("\n").filter((line) => line.length > 40);
    for (const line of tooLong) expect(line.trim().replace(/ \\$/, "")).not.toContain(" ");
  },
);

test.each<[string, ProgramOptions, number]>([
  ["the terminal's width", { tty: true, columns: 60, env: { COLUMNS: "90" } }, 60],
  ["at most 100 columns", { tty: true, columns: 200 }, 100],
  ["COLUMNS if stdout is not a terminal", { env: { COLUMNS: "70" } }, 70],
  ["80 columns if the width is unknown", {}, 80],
])("help is wrapped to %s", async (_, options, width) => {
  const { out } = await brandapi("--help", options);
  const longest = Math.max(...out.split("\n").map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(width);
  expect(longest).toBeGreaterThan(width - 5);
});

test("an example that is too long is wrapped, with a backslash before each line break outside quotes", () => {
  const example = (line: string, columns: number) =>
    formatExamples({ [line]: "purpose" }, testDeps({ tty: true, columns }));
  const line = "brandapi query 'SELECT one FROM two' --csv --out three.csv";
  expect(example(line, line.length + 4)).toBe(`\nExamples:\n  $ ${line}\n      purpose`);
  for (const [length, isWrapped] of [
    [96, false],
    [97, true],
  ] as const)
    expect(example(`brandapi ${"x".repeat(length - 9)}`, 200).includes("\\\n")).toBe(isWrapped);
  const wrapped = "  $ brandapi query 'SELECT one\n      FROM two' --csv --out \\\n      three.csv\n";
  expect(example(line, 33)).toContain(wrapped);
  expect(example(line.replaceAll("'", '"'), 33)).toContain(wrapped.replaceAll("'", '"'));
});

test("help wraps examples so that they can be pasted into a shell", async () => {
  const { out } = await brandapi("help query", { env: { COLUMNS: "40" } });
  expect(out).toContain('  $ brandapi query "SELECT host_label,\n      orders, net_by_currency FROM\n');
  expect(out).toContain(
    "  $ brandapi query -f own.sql -p \\\n      month=2026-10 -o \\\n      october.xlsx\n",
  );
});

test("a command's help explains the formats of times and durations only if one of its options accepts them", async () => {
  const help = async (name: string) => (await brandapi(`${name} --help`)).out.replace(/\s+/g, " ");
  expect(await help("changes")).toContain(timeFormats);
  expect(await help("changes")).not.toContain(durationFormats);
  for (const name of ["status", "sync"]) expect(await help(name)).toContain(durationFormats);
  expect(await help("logout")).not.toContain("UTC");
});

test.each([
  ["whoam", "Unknown command: `whoam`.", "did you mean `whoami`?"],
  ["WHOAMI", "Unknown command: `WHOAMI`.", "did you mean `whoami`?"],
  ["help logni", "Unknown command: `logni`.", "did you mean `login`?"],
  ["xyzzy", "Unknown command: `xyzzy`.", "see `brandapi --help`"],
  ["whoami --profil a", "Unknown option: `--profil`.", "did you mean `--profile`?"],
  ["--jsn whoami", "Unknown option: `--jsn`.", "did you mean `--json`?"],
  ["whoami --xyzzy", "Unknown option: `--xyzzy`.", "see `brandapi whoami --help`"],
  ["orders", "Unknown command: `orders`.", "`brandapi sync orders` reads the resource"],
  ["sql", "Unknown command: `sql`.", "use `brandapi query`"],
  ["ls", "Unknown command: `ls`.", "use `brandapi tables`"],
  ["list", "Unknown command: `list`.", "use `brandapi tables`"],
  ["pull", "Unknown command: `pull`.", "use `brandapi sync`"],
  ["update", "Unknown command: `update`.", "use `brandapi sync`"],
  ["repair", "Unknown command: `repair`.", "use `brandapi verify --repair`"],
  ["version", "Unknown command: `version`.", "use `brandapi --version`"],
  ["sync -all", "Unknown option: `-all`.", "did you mean `--all-profiles`?"],
  ["sync --all", "Unknown option: `--all`.", "did you mean `--all-profiles`?"],
  ["--full sync", "Unknown option: `--full`.", "see `brandapi sync --help`"],
  [
    "export constructor --csv",
    "Unknown table: `constructor`.",
    "`brandapi tables` lists the tables and views",
  ],
  ["export order_lines --csv", "Unknown table: `order_lines`.", "did you mean `order_line_items`?"],
  ["-v", "Unknown option: `-v`.", "use `--verbose` for more output, or `-V` to print the version"],
  ["export orders --colunms=id", "Unknown option: `--colunms=id`.", "did you mean `--columns`?"],
  ["query --format csv", "Unknown option: `--format`.", "use the option for the format, such as `--csv`"],
  ["status --format json", "Unknown option: `--format`.", "use `--json`"],
  ["sync orders,rooster", "Unknown resource: `orders,rooster`.", "use one of `orders`"],
  [
    "sync orders,roster",
    "Unknown resource: `orders,roster`.",
    "separate the resources with spaces, not commas: `orders roster`",
  ],
  [
    "export orders,roster --csv",
    "Unknown table: `orders,roster`.",
    "separate the tables with spaces, not commas: `orders roster`",
  ],
  ["export orders, roster --csv", "Unknown table: `orders,`.", "separate the tables with spaces, not commas"],
  ["status -p default", "Unknown option: `-p`.", "use `--profile`"],
  [
    "query -p default",
    "`--param` is not `name=value`: `default`.",
    "use `-p name=value`, and `:name` in the statement; to choose a profile, use `--profile`",
  ],
  ["tables --rate-limit 5", "`brandapi tables` sends no requests to the API", "omit `--rate-limit`"],
  ["query --max-wait 0s", "`brandapi query` sends no requests to the API", "omit `--max-wait`"],
  [
    "export orders --csv --columns id order_number",
    "`order_number` is a column, not a table.",
    "separate the columns with commas: `--columns id,order_number`",
  ],
  ["export", "Missing required argument `table`.", "name a table or view; `brandapi tables` lists them"],
  ["completion", "Missing required argument `shell`.", "use one of `bash`, `zsh`, `fish`"],
  ["download", "Missing required argument `resource`.", "use `content`"],
  ["whoami extra", "Too many arguments for `whoami`", "see `brandapi whoami --help`"],
  ["query SELECT 1", "Too many arguments for `query`", "put the statement in quotes"],
  [
    "sync --details some",
    "Unknown value of `--details`: `some`.",
    "did you mean `none`? Use one of `all`, `changed`, `none`",
  ],
  ["query “SELECT 1”", "Too many arguments for `query`", "put the statement in straight quotes"],
  ["query ‘SELECT 1’", "Too many arguments for `query`", "put the statement in straight quotes"],
  ["sync --details chnged", "Unknown value of `--details`: `chnged`.", "did you mean `changed`?"],
  ["sync rooster", "Unknown resource: `rooster`.", "did you mean `roster`?"],
  ["sync --omit socials", "Unknown option: `--omit`.", "use `brandapi login --omit FIELD`"],
  [
    "backup --list",
    "Unknown option: `--list`.",
    "`brandapi status` prints the time and path of the last backup",
  ],
  ["restore x.sqlite", "Unknown command: `restore`.", "use `brandapi backup --restore FILE`"],
  ["verify --fix", "Unknown option: `--fix`.", "use `--repair`"],
  [
    "export --table roster",
    "Unknown option: `--table`.",
    "omit `--table`, as in `brandapi export roster --csv`",
  ],
  ["sync -q", "Unknown option: `-q`.", "use `--quiet`"],
  ["login https://a.example/api/brand/v1", "`login` does not take the address", "use `--base-url`"],
  ["login a.example/api/brand/v1", "`login` does not take the address", "use `--base-url`"],
  ["whoami https://a.example", "Too many arguments for `whoami`", "see `brandapi whoami --help`"],
  ["report --month 2999-05", "`--month 2999-05` is in the future.", "choose an earlier month"],
  ["export roster -o roster.xls", "Unsupported file extension: roster.xls", "did you mean `-o roster.xlsx`?"],
  ["download photos", "Unknown resource: `photos`.", "use `content`"],
  ["completion csh", "Unknown shell: `csh`.", "did you mean `zsh`?"],
  [
    "export orders --csv --delimiter x",
    "Unknown delimiter: `x`.",
    "use one of `,`, `;`, `|`, `:`, `^`, `~`, `tab`",
  ],
])("`brandapi %s` exits with code 2, the error %j and the hint %j", async (command, message, hint) => {
  await expectUsageError(command, message, hint);
});

test.each([
  "login brk_a",
  "whoami --api-key=brk_a",
  "whoami --apikey brk_a",
  "sync --KEY brk_a",
  "sync -token brk_a",
])("`brandapi %s` exits with code 2, and suggests pasting the key at the login prompt", async (command) => {
  const message = "The key cannot be passed as an argument, because other users could see it,";
  await expectUsageError(command, message, "run `brandapi login`, and paste the key at the prompt");
});

async function expectUsageError(command: string, message: string, hint: string) {
  const { code, out, err } = await brandapi(command);
  expect(err).toContain(`brandapi: ${message}`);
  expect(err).toContain(`  hint: ${hint}`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
}

test.each([
  ["whoami --profile", "Option `--profile <profile>` argument missing."],
  ["completion", "Missing required argument `shell`."],
  ["forget", "Required option `--host <id>` not specified."],
  ["whoami extra", "Too many arguments for `whoami`. Expected 0 arguments but got 1."],
  ["tables --all --delta x", "Option `--delta <folder>` cannot be used with option `--all`."],
  ["status --quiet --verbose", "Option `--quiet` cannot be used with option `--verbose`."],
  ["--db x status --all-profiles", "Option `--all-profiles` cannot be used with option `--db <path>`."],
  [
    "sync --all-profiles --profile x",
    "Option `--all-profiles` cannot be used with option `--profile <profile>`.",
  ],
  [
    "sync --all-profiles --base-url x",
    "Option `--all-profiles` cannot be used with option `--base-url <url>`.",
  ],
  [
    "sync --all-profiles --key-file x",
    "Option `--all-profiles` cannot be used with option `--key-file <path>`.",
  ],
  ["login --key-stdin --key-file k", "Option `--key-stdin` cannot be used with option `--key-file <path>`."],
  ["--quiet", "No command was specified."],
])("`brandapi %s` exits with code 2 and the error %j", async (command, message) => {
  const { code, out, err } = await brandapi(command);
  expect(err.split("\n")[0]).toBe(`brandapi: ${message}`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test.each([
  ["whoami --rate-limit 0", "`0`", "60"],
  ["sandbox --port 99999", "`99999`", "65535"],
  ["sync analytics-clicks --host abc", "`abc`", "UUID"],
  ["sync --db=", "`--db` is empty", "pass a value"],
  ["export orders --csv --out=", "`--out` is empty", "omit the option"],
  ["query --file=", "`--file` is empty", "pass a value"],
  ["whoami --key-file=", "`--key-file` is empty", "pass a value"],
  ["backup --restore=", "`--restore` is empty", "pass a value"],
  ["demo --out=", "`--out` is empty", "pass a value"],
  ["export orders --delta=", "`--delta` is empty", "pass a value"],
  ["sync --since=", "`--since` is empty", "pass a value"],
  ["query --limit=", "`--limit` is empty", "pass a value"],
  ["query --limit abc", "Invalid value for `--limit`: `abc`.", "whole number from 0"],
  ["sandbox --orders 250001", "Invalid value for `--orders`: `250001`.", "whole number from 0 to 250000"],
  ["sync --window soon", "`--window` is not a duration: `soon`", "`30d`"],
  ["status --max-age 1x", "`--max-age` is not a duration", "`26h`"],
  ["sync --until later", "`--until` is not a time: `later`", "2026-01-31"],
  ["query --as-of later", "`--as-of` is not a time: `later`", "2026-01-31"],
  ["export orders --csv --columns ,", "`--columns` is not a comma-separated list", "commas"],
  ["forget ada", "`--host <id>`", "`brandapi forget --host ada`"],
  ["forget ada --yes", "`--host <id>`", "`brandapi forget --host ada`"],
  ["forget --yes", "`--host <id>`", "`brandapi forget --help`"],
  ["report october", "Too many arguments", "`brandapi report --month 2026-10`"],
  ["report last-month", "Too many arguments", "`brandapi report --month last-month`"],
  ["report this-month", "Too many arguments", "`brandapi report --month this-month`"],
  ["report 2026-09", "Too many arguments", "`brandapi report --month 2026-09`"],
  ["sync --since 2026-05 --until 2026-04", "`--since` is later than `--until`", "an earlier `--since`"],
  ["sync --since 2999-01-01", "`--since 2999-01-01` is in the future", "in the past"],
  ["export --all --csv", "`--all`", "name each table"],
  ["verify --accept-removals", "`--accept-removals`", "`--repair`"],
  ["export orders --retain 30d", "`--retain`", "`--delta FOLDER`"],
  ["tables orders --all", "`--all`", "`orders`"],
])(
  "`brandapi %s` exits with code 2, an error that contains %j and a hint that contains %j",
  async (...row) => {
    const [command, subject, remedy] = row;
    const { code, out, err } = await brandapi(command);
    expect(err).toContain(subject);
    expect(err.split("hint: ")[1]).toContain(remedy);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  },
);

test.each([
  ["orders", "--per-host"],
  ["orders", "--host x"],
  ["orders", "--details none"],
  ["roster", "--host 0a1b2c3d-0000-4000-8000-00000000000f"],
  ["roster", "--until yesterday"],
  ["roster", "--details all"],
  ["roster", "--window 3"],
  ["opportunities", "--window 3"],
  ["analytics-clicks", "--audit 3"],
])(
  "`brandapi sync %s %s` exits with code 2, because the option does not apply to the resource",
  async (...row) => {
    const [resource, option] = row;
    const { code, err } = await brandapi(`sync ${resource} ${option}`);
    expect(err).toContain(`\`${resource}\``);
    expect(err).toContain(`\`${option.split(" ")[0]}\``);
    expect(code).toBe(2);
  },
);

test.each(["demo", "demo --challenge", "completion bash"])(
  "`brandapi %s --json` exits with code 2, because the command prints no JSON",
  async (command) => {
    const { code, out } = await brandapi(`${command} --json`);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { message: expect.stringContaining("prints no JSON") } });
  },
);

const requestCommands = "login whoami doctor sync verify status download cron sandbox".split(" ");

test.each(
  commands.map((command) => {
    const name = command.name();
    return [name, requestCommands.includes(name) ? "accepts" : "rejects", command] as const;
  }),
)(
  "`brandapi %s` %s --rate-limit and --max-wait",
  async (name, expected, { options, registeredArguments }) => {
    const argv = [name, "--rate-limit", "none", "--max-wait", "1s"];
    for (const { argChoices, required } of registeredArguments)
      if (required) argv.push(argChoices?.[0] ?? "orders");
    for (const { long, mandatory } of options) if (mandatory) argv.push(long ?? "", "x");
    const { err } = await brandapi(argv, { signal: AbortSignal.abort(new Stopped("SIGINT")) });
    expect(err.includes("sends no requests to the API"), err).toBe(expected === "rejects");
  },
);

test.each([
  ["-- a comment\nSELECT 1", "an SQL statement", 3, "No mirror yet"],
  ["--a comment\nSELECT 1", "an SQL statement", 3, "No mirror yet"],
  ["-- a = 1\nSELECT 1", "an SQL statement", 3, "No mirror yet"],
  ["--fiel=a\nb", "an unknown option", 2, "Unknown option"],
])("`brandapi query %j` treats its argument as %s", async (argument, _, code, message) => {
  expect(await brandapi(["query", argument])).toMatchObject({ code, err: expect.stringContaining(message) });
});

test("global options work before and after the command's name, and the last value applies", async () => {
  const before = await brandapi("--profile acme whoami");
  expect(before.err).toContain("`acme`");
  expect((await brandapi("whoami --profile acme")).err).toBe(before.err);
  expect((await brandapi("--profile other whoami --profile acme")).err).toBe(before.err);
  expect(JSON.parse((await brandapi("--json whoami")).out).error.code).toBe("configuration");
  expect((await brandapi("--json report --open")).err).toContain(
    "`--json` cannot be used with option `--open`",
  );
});
