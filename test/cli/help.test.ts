import { expect, test } from "vitest";
import { durationFormats, timeFormats } from "../../src/cli/time-flags.js";
import { commands, examplesOf } from "../support/commands.js";
import { brandapi } from "../support/program.js";

test("brandapi --help lists every command under its group's heading", async () => {
  const { out, code, err } = await brandapi("--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
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

test("brandapi --help names the Node versions for which the installation compiles SQLite", async () => {
  const { out } = await brandapi("--help");
  expect(out.replace(/\s+/g, " ")).toContain("on Node 22 and later, nothing is compiled. On Node 20, ");
});

test("`brandapi` and `brandapi help` print the same output as --help", async () => {
  const { out } = await brandapi("--help");
  expect(await brandapi("help")).toMatchObject({ code: 0, out });
  expect(await brandapi("")).toMatchObject({ code: 0, out });
});

/**
 * Counts the lines of the list of resources, except the first. The limit on the length of help ignores them, because
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
  expect(await help("status")).toContain(durationFormats);
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
  ["version", "Unknown command: `version`.", "use `brandapi --version`"],
  ["sync -all", "Unknown option: `-all`.", "did you mean `--all-profiles`?"],
  ["export order_lines --csv", "Unknown table: `order_lines`.", "did you mean `order_line_items`?"],
  ["-v", "Unknown option: `-v`.", "use `--verbose` for more output, or `-V` to print the version"],
  ["export orders --colunms=id", "Unknown option: `--colunms=id`.", "did you mean `--columns`?"],
  ["query --format csv", "Unknown option: `--format`.", "use the format's option, such as `--csv`"],
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
    "use `-p name=value`, and `:name` in the statement; to choose a profile",
  ],
  ["tables --rate-limit 5", "`brandapi tables` sends no requests to the API", "omit `--rate-limit`"],
  ["query --max-wait 5m", "`brandapi query` sends no requests to the API", "omit `--max-wait`"],
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
  ["sync --details chnged", "Unknown value of `--details`: `chnged`.", "did you mean `changed`?"],
  ["sync rooster", "Unknown resource: `rooster`.", "did you mean `roster`?"],
  ["sync --omit socials", "Unknown option: `--omit`.", "use `brandapi login --omit FIELD`"],
  ["backup --list", "Unknown option: `--list`.", "`brandapi status` prints the last backup"],
  ["restore x.sqlite", "Unknown command: `restore`.", "use `brandapi backup --restore FILE`"],
  ["verify --fix", "Unknown option: `--fix`.", "use `--repair`"],
  ["export --table roster", "Unknown option: `--table`.", "omit `--table`, as in `brandapi export roster"],
  ["sync -q", "Unknown option: `-q`.", "use `--quiet`"],
  ["login https://a.example/api/brand/v1", "`login` does not take the address", "use `--base-url`"],
  ["report --month 2999-05", "`--month 2999-05` is in the future.", "choose an earlier month"],
  [
    "export roster -o roster.xls",
    "No format has this file extension: roster.xls",
    "did you mean `-o roster.xlsx`?",
  ],
  ["download photos", "Unknown resource: `photos`.", "use `content`"],
  ["completion csh", "Unknown shell: `csh`.", "did you mean `zsh`?"],
  ["export orders --csv --delimiter x", "Unknown delimiter: `x`.", "use one of `,`, `;`, "],
])("`brandapi %s` exits with code 2, reports %j and gives the hint %j", async (command, message, hint) => {
  const { code, out, err } = await brandapi(command);
  expect(err).toContain(`brandapi: ${message}`);
  expect(err).toContain(`  hint: ${hint}`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test.each([
  ["whoami --profile", "Option `--profile <profile>` argument missing."],
  ["completion", "Missing required argument `shell`."],
  ["forget", "Required option `--host <id>` not specified."],
  ["tables --all --delta x", "Option `--delta <folder>` cannot be used with option `--all`."],
  ["status --quiet --verbose", "Option `--quiet` cannot be used with option `--verbose`."],
  ["--db x status --all-profiles", "Option `--all-profiles` cannot be used with option `--db <path>`."],
  ["login --key-stdin --key-file k", "Option `--key-stdin` cannot be used with option `--key-file <path>`."],
  [
    "login brk_a",
    "The key is never passed as an argument, because other users could see it, and the shell would save it in its history.",
  ],
  [
    "whoami --api-key=brk_a",
    "The key is never passed as an argument, because other users could see it, and the shell would save it in its history.",
  ],
  ["--quiet", "No command was specified."],
])("`brandapi %s` exits with code 2 and reports %j", async (command, message) => {
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
  ["export orders --delta=", "`--delta` is empty", "pass a value"],
  ["sync --since=", "`--since` is empty", "pass a value"],
  ["query --limit=", "`--limit` is empty", "pass a value"],
  ["query --limit abc", "`--limit` is not a whole number", "from 0"],
  ["sync --window soon", "`--window` is not a duration: `soon`", "`30d`"],
  ["status --max-age 1x", "`--max-age` is not a duration", "`26h`"],
  ["sync --until later", "`--until` is not a time: `later`", "2026-01-31"],
  ["query --as-of later", "`--as-of` is not a time: `later`", "2026-01-31"],
  ["export orders --csv --columns ,", "`--columns` is not a comma-separated list", "commas"],
  ["forget ada", "`--host <id>`", "`brandapi forget --host ada`"],
  ["report october", "Too many arguments", "`brandapi report --month 2026-10`"],
  ["report last-month", "Too many arguments", "`brandapi report --month last-month`"],
  ["export --all --csv", "`--all`", "name each table"],
  ["verify --accept-removals", "`--accept-removals`", "`--repair`"],
  ["export orders --retain 30d", "`--retain`", "`--delta FOLDER`"],
  ["tables orders --all", "`--all`", "`orders`"],
])("`brandapi %s` exits with code 2, with %j in the error and %j in the hint", async (...row) => {
  const [command, subject, remedy] = row;
  const { code, out, err } = await brandapi(command);
  expect(err).toContain(subject);
  expect(err.split("hint: ")[1]).toContain(remedy);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

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

test("global options work before and after the command's name, and the last value applies", async () => {
  const before = await brandapi("--profile acme whoami");
  expect(before.err).toContain("`acme`");
  expect((await brandapi("whoami --profile acme")).err).toBe(before.err);
  expect((await brandapi("--profile other whoami --profile acme")).err).toBe(before.err);
  expect(JSON.parse((await brandapi("--json whoami")).out).error.code).toBe("configuration");
});
